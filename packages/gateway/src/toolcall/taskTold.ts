import { GatewayError } from '../errors/gatewayError.ts';
import { stripGatewayMeta, stripGatewayKeys } from '../shaping/stripGatewayMeta.ts';
import { filterCapabilities } from '../upstream/dialogue.ts';
import type { UpstreamResponse, JsonObject } from '../upstream/upstream.ts';
import type { Inbound } from './call.ts';
import { isObject, presentedQuestions } from './dialogue.ts';
import type { Ready } from './obtainCredential.ts';

/**
 * What a server says of a task, as its caller is told it. A result and an error inside are as little ours to sign as those
 * of a call, and a question is put as it would be in a call: to who can be asked just that, saying which server asks.
 */
export function taskTold(answer: UpstreamResponse, ready: Ready, { peer }: Inbound): UpstreamResponse {
  const { result, error, inputRequests } = answer.result;
  const told: Record<string, unknown> = {};
  if (isObject(result)) told['result'] = stripGatewayMeta(result);
  if (isObject(error) && isObject(error['data']))
    told['error'] = { ...error, data: stripGatewayKeys(error['data']) };
  if (inputRequests !== undefined)
    told['inputRequests'] = questionsOf(inputRequests, ready, peer?.capabilities);
  return { result: { ...answer.result, ...told }, json: undefined };
}

function questionsOf(inputRequests: unknown, ready: Ready, declared: JsonObject = {}): JsonObject {
  const { name, settings } = ready.server;
  const asked =
    isObject(inputRequests) &&
    presentedQuestions(inputRequests, filterCapabilities(declared, settings.relay), ready);
  if (asked) return asked;
  throw new GatewayError('MCP_DIALOGUE_UNSUPPORTED', {
    detail: `${name} asks something before the task goes on, and this client cannot be asked it. The task can be cancelled.`,
  });
}
