import type { JsonObject, UpstreamResponse } from './upstream.ts';

/** Reserved for keys that the gateway itself writes, such as `behalf/auth`. */
const GATEWAY_PREFIX = 'behalf/';

/**
 * Removes reserved `_meta` keys from a message of a server. Clients act on them: with a `behalf/auth` key a server could
 * send users to a sign-in page of its choice in the name of the gateway.
 */
export function stripGatewayMeta(message: JsonObject): JsonObject {
  const { _meta } = message;
  if (typeof _meta !== 'object' || _meta === null) return message;
  const serverMeta = stripGatewayKeys(_meta as JsonObject);
  return serverMeta === _meta ? message : { ...message, _meta: serverMeta };
}

/** Removes reserved keys. Returns the same object if there are none. */
export function stripGatewayKeys(members: JsonObject): JsonObject {
  const entries = Object.entries(members);
  const serverEntries = entries.filter(([key]) => !key.startsWith(GATEWAY_PREFIX));
  return serverEntries.length === entries.length ? members : Object.fromEntries(serverEntries);
}

/**
 * Removes reserved keys from a response and keeps its text if nothing was removed. The text can contain duplicate
 * members, of which `JSON.parse` sees only the last. Decisions therefore must not depend on the content of a result,
 * which another JSON parser could read differently.
 */
export function stripResponseMeta(response: UpstreamResponse): UpstreamResponse {
  const result = stripGatewayMeta(response.result);
  return result === response.result ? response : { kind: 'result', result, json: undefined };
}
