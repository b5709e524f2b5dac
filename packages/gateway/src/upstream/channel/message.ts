import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { isObject } from '../http/readResponse.ts';
import type { JsonObject } from '../upstream.ts';

export function objectOrEmpty(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/**
 * Reads one message. Only the envelope is looked at, and by us: the schemas of the SDK would walk through every field
 * of a result, which is passed on as it came.
 */
export function parseRpcMessage(text: string): JSONRPCMessage {
  const message: unknown = JSON.parse(text);
  if (!isObject(message) || message['jsonrpc'] !== '2.0') throw new SyntaxError('Not a JSON-RPC 2.0 message');
  return message as unknown as JSONRPCMessage;
}
