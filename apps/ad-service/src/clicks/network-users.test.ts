import { expect, test } from "vitest";
import {
  addPending,
  addUsers,
  noUsers,
  oneUser,
  openPendingUsers,
  takePending,
  usersOfMinute,
} from "./network-users.ts";

const at = (time: string) => new Date(`2026-03-01T${time}Z`);

test("a network's first eight users stay with the node; the ninth visit takes them, once, to be stored", () => {
  const pending = openPendingUsers();
  for (let user = 0; user < 8; user++) {
    expect(takePending(pending, "bot net")).toMatchObject({ isStored: false, pending: { users: user } });
    addPending(pending, "bot net", oneUser(at("12:00:01")));
  }
  const taken = takePending(pending, "bot net");
  expect(taken).toMatchObject({ isStored: true, pending: { users: 8, minuteUsers: 8 } });
  expect(takePending(pending, "bot net")).toEqual({ isStored: true, pending: noUsers });
  // What was not written is returned, and taken again.
  addPending(pending, "bot net", taken.pending);
  expect(takePending(pending, "bot net")).toEqual(taken);
  expect(takePending(pending, "bot other")).toEqual({ isStored: false, pending: noUsers });
});

test("users add up on a day, and only those of the latest minute in the minute", () => {
  const two = addUsers(oneUser(at("12:00:59")), oneUser(at("12:01:00")));
  expect(two).toEqual({ users: 2, minute: at("12:01:00"), minuteUsers: 1 });
  expect(addUsers(two, oneUser(at("12:00:01")))).toEqual({ users: 3, minute: at("12:01:00"), minuteUsers: 1 });
  expect(addUsers(two, oneUser(at("12:01:59")))).toEqual({ users: 3, minute: at("12:01:00"), minuteUsers: 2 });
  expect([addUsers(noUsers, two), addUsers(two, noUsers)]).toEqual([two, two]);
  expect([usersOfMinute(two, at("12:01:30")), usersOfMinute(two, at("12:02:00"))]).toEqual([1, 0]);
});
