import { expect, test } from "vitest";
import { warningOfAnswer } from "./receiver-warning.ts";

test.each([
  ["", "text/html; charset=UTF-8"],
  ["ok", "text/html; charset=utf-8"],
  ["1 < 2 and 3 > 2", "text/html"],
  ["thanks", null],
  ["answered", "text/plain"],
  ['{"ok":true}', "application/json"],
  ['{"received":true,"error":null,"errors":[]}', null],
  ['{"success":"true","error":"","code":0,"status":"ok","message":"no error"}', null],
  ['{"status":200,"error":false}', null],
  ['{"status":"success","result":"accepted"}', null],
  ["[]", null],
  ["null", null],
  ["[1, 2]", null],
  ["no problem", null],
  ["notified", null],
  ["0", null],
  [`${"[".repeat(2000)}${"]".repeat(2000)}`, null],
  ["0 errors", null],
  ['{"message":"Message received","code":"OK","data":null}', null],
  ['{"message":"no error","data":{"ok":true,"errors":[]}}', null],
  ['{"data":["fine"],"status":"errorless"}', null],
  ['"OK"', null],
  ["<ok/>", "application/xml"],
  ['{"ok":fal', null],
  [null, null],
])("%j of type %s is an answer like any other", (text, contentType) => {
  expect(warningOfAnswer({ text, contentType })).toBeUndefined();
});

test.each([
  ["<!doctype html><title>Home</title>", null],
  ["\uFEFF\n <!DOCTYPE HTML PUBLIC>", "text/plain"],
  ["<html lang=en>", null],
  ["<!-- built --><html>", null],
  ["<br />\n<b>Warning</b>: Undefined variable", null],
  ["Warning in <b>index.php</b>", "text/html; charset=UTF-8"],
  ["<p>It works!</p>", null],
  ["  <x-app></x-app>", "application/xhtml+xml"],
])("%j of type %s is a web page", (text, contentType) => {
  expect(warningOfAnswer({ text, contentType })).toBe("html-answer");
});

test.each([
  '{"ok":false}',
  ' {"success": false, "message": "x"}',
  '{"Success":"false"}',
  '{"error":"bad signature"}',
  '{"error":{"code":"BAD_SIGNATURE"}}',
  '{"errors":[{"message":"x"}]}',
  '{"status":"error"}',
  '{"status":"FAILED"}',
  '{"status":404}',
  '{"statusCode":401,"message":"Unauthorized"}',
  '{"result":"error"}',
  "Invalid signature",
  "Error: no handler",
  "Unauthorized",
  '"forbidden"',
  "Not Found",
  "false",
  " no\n",
  "Missing signature header",
  "Signature verification failed",
  "Could not verify the request",
  '[{"ok":false}]',
  '{"result":{"ok":false}}',
  '{"data":[{"success":false}]}',
  '{"status":"invalid_signature"}',
  '{"code":"UNAUTHORIZED"}',
  '{"message":"Invalid signature"}',
  '{"detail":"Not authenticated"}',
  '{"verified":false}',
  '{"authorized":"no"}',
])("%j says no", (text) => {
  expect(warningOfAnswer({ text, contentType: null })).toBe("negative-answer");
});
