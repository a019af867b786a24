/**
 * What happens to channels of the fake realm, and in them without a message: subscribing, renaming, typing. Each act raises the events that a real server
 * sends, to those whom it would tell.
 */
import { channelShape, subscriptionShape } from "./shapes.ts";
import type { FakeChannel, FakePlace, FakeUser, World } from "./world.ts";

/** Somebody begins or ends typing. Never comes back to who types. */
export function typing(world: World, user: FakeUser, op: "start" | "stop", place: FakePlace): void {
  const sender = { user_id: user.id, email: user.email };
  world.queues.publish("typing", (queue) => {
    if (queue.userId === user.id) return null;
    if ("channelId" in place) {
      if (!world.channel(place.channelId).subscribers.has(queue.userId)) return null;
      return {
        type: "typing",
        op,
        message_type: "stream",
        sender,
        stream_id: place.channelId,
        topic: place.topic,
      };
    }
    if (!place.userIds.includes(queue.userId)) return null;
    const recipients = place.userIds.map((id) => ({ user_id: id, email: world.user(id).email }));
    return { type: "typing", op, message_type: "direct", sender, recipients };
  });
}

/** Subscribes or unsubscribes, with the events for the user and for the other subscribers. */
export function setSubscribed(world: World, user: FakeUser, channel: FakeChannel, subscribed: boolean): void {
  if (channel.subscribers.has(user.id) === subscribed) return;
  if (subscribed) channel.subscribers.add(user.id);
  else channel.subscribers.delete(user.id);
  world.queues.publish("subscription", (queue) => {
    if (queue.userId === user.id) {
      return subscribed ? { type: "subscription", op: "add", subscriptions: [subscriptionShape(channel)] } : {
        type: "subscription",
        op: "remove",
        subscriptions: [{ name: channel.name, stream_id: channel.id }],
      };
    }
    if (channel.isPrivate && !channel.subscribers.has(queue.userId)) return null;
    const op = subscribed ? "peer_add" : "peer_remove";
    return { type: "subscription", op, stream_ids: [channel.id], user_ids: [user.id] };
  });
}

export function renameChannel(world: World, channel: FakeChannel, name: string): void {
  const before = channel.name;
  channel.name = name;
  world.queues.publish("stream", () => ({
    type: "stream",
    op: "update",
    property: "name",
    value: name,
    name: before,
    stream_id: channel.id,
  }));
}

export function announceChannel(world: World, channel: FakeChannel): void {
  world.queues.publish(
    "stream",
    (queue) =>
      channel.isPrivate && !channel.subscribers.has(queue.userId)
        ? null
        : { type: "stream", op: "create", streams: [channelShape(channel)] },
  );
}
