import { GatewayError, type UpstreamResponse, type Inbound, type JsonObject } from '@behalf/gateway';
import { createObserving } from '../../rest/mcp/observing.ts';
import type { Asked } from '../asked.ts';
import { authNeeded, signInOf, type Needed } from '../authNeeded.ts';
import { endpointKey } from '../doorEndpoint.ts';
import { knownContent } from '../knownContent.ts';
import { canBeAsked, mcpInbound } from '../mcpInbound.ts';
import { isObject } from '../message.ts';
import { noteElicited } from '../noteElicited.ts';
import { RpcFault, rpcCode } from '../rpcFault.ts';
import type { State, StatedRequest } from '../requestState.ts';
import type { MethodParts, Watched, Work } from './methodParts.ts';

/** Runs one request at one server, and writes what came back as the client's era has it. */
export interface CallMethod {
  /** The request as the steps of the gateway see it; also what a retry brought with it. */
  inboundOf(asked: Asked): Given;
  run(asked: Asked, watched: Watched, given: Given, work: Work): Promise<string>;
}

interface Given {
  readonly inbound: Inbound;
  readonly state: State;
}

export function createCallMethod(parts: MethodParts): CallMethod {
  const { results, states, asking, parking, taskIds, requestIds } = parts;
  const observe = createObserving(parts);

  /** The text of what it came to. */
  async function finish(
    asked: Asked,
    { server, what }: Watched,
    { inbound, state }: Given,
    work: Work,
  ): Promise<string> {
    const { caller, era } = asked;
    const { signal } = inbound;
    const seal = (next: State) => states.seal(caller, statedOf(asked), next);
    const needed = async (what: Omit<Needed, 'server' | 'state' | 'seal'>) => {
      try {
        return await authNeeded(parts, asked, { server, state, seal, ...what });
      } catch (error) {
        await noteElicited(parts, asked, server, error);
        throw error;
      }
    };
    let answer: UpstreamResponse;
    try {
      answer = await observe({ caller, door: 'mcp', server, what, signal }, () => work(inbound));
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'MCP_AUTHORIZATION_REQUIRED')
        return needed({ error, signIn: error.signIn });
      throw error;
    }
    const { result } = answer;
    const signIn = signInOf(result);
    if (signIn) return needed({ answer, signIn });
    if (answer.task) {
      const taskId = taskIds.seal(caller, endpointKey(asked.endpoint), answer.task);
      return results.task({ ...result, taskId });
    }
    if (answer.isInputRequired) return results.inputRequired(withOurState(result, seal));
    return results.passed(era, era === 'legacy' ? knownContent(answer, asked.version) : answer);
  }

  return {
    inboundOf(asked) {
      const { caller, session, reply, params, era, capabilities } = asked;
      const { requestState, inputResponses } = params;
      if (era === 'legacy') {
        const ask =
          session && reply.takesRequests && canBeAsked(capabilities)
            ? asking.askOf(session, reply)
            : undefined;
        return { inbound: mcpInbound(asked, requestIds(), ask), state: NO_STATE };
      }
      if (requestState === undefined && inputResponses === undefined)
        return { inbound: mcpInbound(asked, requestIds()), state: NO_STATE };
      if (inputResponses !== undefined && !areResponses(inputResponses))
        throw new RpcFault(rpcCode.invalidParams, 'params.inputResponses must be an object of results');
      const state =
        requestState === undefined ? NO_STATE : states.open(caller, statedOf(asked), requestState);
      // What a client answers to a question of ours is no answer to the server's; what it had answered before is.
      const isTheirs = state.asked === undefined;
      const given = isTheirs && isObject(inputResponses) ? inputResponses : state.given;
      const retry = {
        ...(given && { inputResponses: given }),
        ...(state.upstream !== undefined && { requestState: state.upstream }),
      };
      return {
        inbound: mcpInbound(asked, requestIds(), undefined, retry),
        state: given ? { ...state, given } : state,
      };
    },
    run(asked, watched, given, work) {
      const { caller, era, capabilities } = asked;
      const { inbound, state } = given;
      if (state.parked) return parking.resume(asked, state.parked);
      if (era === 'legacy' || !canBeAsked(capabilities)) return finish(asked, watched, given, work);
      // A server of the era before asks while the call goes on; what that is, is known when it does.
      const seal = (next: State) => states.seal(caller, statedOf(asked), next);
      return parking.begin(asked, inbound, seal, (own) =>
        finish(asked, watched, { ...given, inbound: own }, work),
      );
    },
  };
}

const NO_STATE: State = {};

export function areResponses(given: unknown): given is JsonObject {
  return isObject(given) && Object.values(given).every(isObject);
}

/** A server's own state goes out under our seal: it comes back for the same user, method and arguments, or not at all. */
function withOurState(result: JsonObject, seal: (state: State) => string): JsonObject {
  const { requestState, inputRequests } = result;
  return {
    ...(isObject(inputRequests) && { inputRequests }),
    requestState: seal(typeof requestState === 'string' ? { upstream: requestState } : {}),
  };
}

function statedOf({ endpoint, method, params }: Asked): StatedRequest {
  return { endpoint: endpointKey(endpoint), method, params };
}
