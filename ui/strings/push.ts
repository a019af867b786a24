/** Every sentence about push messages: in the settings, and in the notifications that the service worker shows. */

/** The settings' part. */
export const pushStrings = {
  title: "Notifications",
  note:
    "What waits for you is shown on this device, with the tool's name and the chat's title and nothing else.",
  states: {
    unknown: "Looking…",
    unsupported: "This browser takes no push messages on this address. They need https, or localhost.",
    install:
      "On an iPhone or iPad, first add this page to the home screen (Share, Add to Home Screen) and open it there.",
    unavailable: "This server sends no push messages.",
    denied:
      "This browser was told to show no notifications from here. Allow them in its settings for this site.",
    off: "Off on this device",
    on: "On on this device",
    blocked: "Blocked: the push service says that this browser takes no more messages. Turn them on again.",
  },
  on: "Turn on",
  off: "Turn off",
  test: "Send me a test",
  testing: "On its way. It should appear within seconds.",
  outcomes: {
    sent: "Taken by the push service",
    failed: "Not taken by the push service",
    settled: "Taken by the push service",
    clicked: "Opened here",
  },
  last: "Last message",
  lastTest: "Last test",
  refused: "The browser did not turn them on. Try again, or look into its settings for this site.",
} as const;

/** The notifications' part. */
export const noticeStrings = {
  waiting: (tool: string) => `Waiting for you: ${tool}`,
  settled: (tool: string) => `Waits no more: ${tool}`,
  test: "Push messages work",
  testBody: "This is the test that you asked for.",
  unknown: "Something waits in your inbox",
  something: "an item",
} as const;
