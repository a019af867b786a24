/** How the gate treats what waits until the owner says otherwise. The shapes are in the protocol and in the HTTP API; a test holds them together. */
export const gateDefaults = {
  expirySeconds: 7 * 86_400,
  onExpiry: "reject",
  remindSeconds: null,
  quietHours: null,
  twoPersons: [],
  undoSeconds: 0,
  callsPerMinute: 120,
  denialsInARow: 10,
} as const;
