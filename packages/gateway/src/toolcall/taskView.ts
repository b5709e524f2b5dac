import { GatewayError } from '../errors/gatewayError.ts';
import { stripGatewayMeta, stripGatewayKeys } from '../shaping/stripGatewayMeta.ts';
import { filterCapabilities } from '../upstream/dialogue.ts';
import type { UpstreamResponse, JsonObject } from '../upstream/upstream.ts';
import type { Inbound } from './inbound.ts';
import { isObject, sanitizeInputRequests } from './dialogue.ts';
import type { PreparedTarget } from './obtainCredential.ts';

/**
 * What a server says of a task, as its caller is told it. A result and an error inside are as little ours to sign as those
 * of a call, and a question is put as it would be in a call: to who can be asked just that, saying which server asks.
 */
export function toTaskView(
  response: UpstreamResponse,
  prepared: PreparedTarget,
  { peer }: Inbound,
): UpstreamResponse {
  const { result, error, inputRequests } = response.result;
  const sanitized: Record<string, unknown> = {};
  if (isObject(result)) sanitized['result'] = stripGatewayMeta(result);
  if (isObject(error) && isObject(error['data']))
    sanitized['error'] = { ...error, data: stripGatewayKeys(error['data']) };
  if (inputRequests !== undefined)
    sanitized['inputRequests'] = sanitizeTaskRequests(inputRequests, prepared, peer?.capabilities);
  return { result: { ...response.result, ...sanitized }, json: undefined };
}

function sanitizeTaskRequests(
  inputRequests: unknown,
  prepared: PreparedTarget,
  declared: JsonObject = {},
): JsonObject {
  const { name, settings } = prepared.server;
  const sanitizedRequests =
    isObject(inputRequests) &&
    sanitizeInputRequests(inputRequests, filterCapabilities(declared, settings.relay), prepared);
  if (sanitizedRequests) return sanitizedRequests;
  throw new GatewayError('MCP_DIALOGUE_UNSUPPORTED', {
    detail: `${name} requests input before the task continues, and this client does not support the request. You can cancel the task.`,
  });
}
