/**
 * Every sentence about passkeys.
 */

/** Texts of the door, the settings and the proof. */
export const passkeyStrings = {
  title: "Passkeys",
  note: "Sign in and prove that it is you by this device's screen lock, without a link or token.",
  loading: "Reading passkeys…",
  add: "Add a passkey",
  use: "Use a passkey",
  signIn: "Sign in with a passkey",
  unsupported: "This browser cannot use passkeys here.",
  isHere: "This device has a passkey of yours already.",
  notGiven: "The browser gave no passkey. Try again, or use a link or token.",
  synced: "synced",
  unused: "never used",
  name: "Name",
  rename: "Rename",
  renameLabel: (name: string) => `Rename ${name}`,
  save: "Save",
  remove: "Remove",
  removeLabel: (name: string) => `Remove ${name}`,
  removeConfirm: "Remove this passkey",
  removeLast: "Remove it: then only a new link signs you in",
} as const;
