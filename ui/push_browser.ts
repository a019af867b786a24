/**
 * Push messages as the browser offers them, in the shape that the store asks for. The one place that knows the browser's own objects. The store is
 * proven without it, by `store/push_test.ts`.
 */
import type { PushHost } from "./store/push.ts";

/** What this browser can do. */
export function pushBrowser(): PushHost {
  const isSupported = "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;
  const isApple = /iPhone|iPad|iPod/.test(navigator.userAgent) ||
    navigator.userAgent.includes("Macintosh") && navigator.maxTouchPoints > 1;
  const isInstalled = matchMedia("(display-mode: standalone)").matches;
  const manager = async () => (await navigator.serviceWorker.ready).pushManager;
  return {
    support: isSupported ? "full" : isApple && !isInstalled ? "install" : "none",
    permission: () => Notification.permission,
    ask: () => Notification.requestPermission(),
    async endpoint() {
      return (await (await manager()).getSubscription())?.endpoint;
    },
    async subscribe(publicKey) {
      const push = await manager();
      // One that was made with another key is refused, and of no use to us.
      await (await push.getSubscription())?.unsubscribe();
      const made = await push.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey });
      const { endpoint = "", keys = {} } = made.toJSON();
      return { endpoint, keys: { p256dh: keys["p256dh"] ?? "", auth: keys["auth"] ?? "" } };
    },
    async unsubscribe() {
      await (await (await manager()).getSubscription())?.unsubscribe();
    },
    async keepOnly(isWaiting) {
      if (!isSupported) return;
      const shown = await (await navigator.serviceWorker.getRegistration())?.getNotifications() ?? [];
      for (const notification of shown) {
        if (!isWaiting(notification.tag)) notification.close();
      }
    },
  };
}
