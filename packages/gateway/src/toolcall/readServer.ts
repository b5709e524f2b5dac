import { GatewayError } from '../errors/gatewayError.ts';
import type { Answer, Json } from '../upstream/upstream.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import { ask, enter, prepare, type AskParts } from './askServer.ts';
import type { Inbound } from './call.ts';
import { mayRepeat } from './recoverFromRefusal.ts';
import { notFoundError } from './rpcResult.ts';
import { reasonToSignIn } from './signInNeeded.ts';
import { toGatewayError } from './toGatewayError.ts';

/** What a server has besides tools, read on the same way as a tool is called. */
export type Reading =
  | { readonly method: 'resources/read'; readonly params: { readonly uri: string } }
  | {
      readonly method: 'prompts/get';
      readonly params: { readonly name: string; readonly arguments: Json };
    };

export async function readServer(
  parts: AskParts,
  name: string,
  reading: Reading,
  inbound: Inbound,
): Promise<Answer> {
  const denial = reading.method === 'prompts/get' ? 'MCP_PROMPT_NOT_FOUND' : 'MCP_RESOURCE_NOT_FOUND';
  const server = enter(parts, inbound, name, denial);
  try {
    const ready = await prepare(parts, server, inbound);
    return await ask(parts, ready, reading, inbound, (error) =>
      mayRepeat(error, server) ? reading : undefined,
    );
  } catch (error) {
    throw notFoundError(error, denial) ?? toldOf(error, server);
  }
}

/** There is no result to put it into here, so the need for a sign-in is an error. */
export function toldOf(error: unknown, server: ServerSnapshot): unknown {
  if (reasonToSignIn(error, server)) return new GatewayError('MCP_AUTHORIZATION_UNAVAILABLE');
  return toGatewayError(error, server.name);
}
