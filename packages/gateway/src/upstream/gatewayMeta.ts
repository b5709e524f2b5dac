import type { JsonObject, UpstreamResponse } from './upstream.ts';

/** What begins like this is said by us: that a sign-in is needed and where, which number an error had. */
const GATEWAY_PREFIX = 'behalf/';

/**
 * What a server says, without what only we may say. Clients act on our words in `_meta`: with a `behalf/auth` of its own
 * a server could send users to a page of its choice, in our name.
 */
export function stripGatewayMeta(message: JsonObject): JsonObject {
  const { _meta } = message;
  if (typeof _meta !== 'object' || _meta === null) return message;
  const serverMeta = stripGatewayKeys(_meta as JsonObject);
  return serverMeta === _meta ? message : { ...message, _meta: serverMeta };
}

/** The members that are a server's own: the object itself where all of them are. */
export function stripGatewayKeys(members: JsonObject): JsonObject {
  const entries = Object.entries(members);
  const serverEntries = entries.filter(([key]) => !key.startsWith(GATEWAY_PREFIX));
  return serverEntries.length === entries.length ? members : Object.fromEntries(serverEntries);
}

/**
 * The same for an answer, whose text is passed on as it came unless there was something to take out. A text that names a
 * member twice is passed on with both: JSON readers take the last, as we do. So whatever is decided here or later must
 * never be about content that a reader of another kind could see otherwise.
 */
export function stripResponseMeta(response: UpstreamResponse): UpstreamResponse {
  const result = stripGatewayMeta(response.result);
  return result === response.result ? response : { kind: 'result', result, json: undefined };
}
