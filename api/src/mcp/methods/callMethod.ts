import { GatewayError, type Answer, type Inbound, type Json } from '@behalf/gateway';
import { createObserving } from '../../rest/mcp/observing.ts';
import type { Asked } from '../asked.ts';
import { authNeeded, signInOf } from '../authNeeded.ts';
import { canBeAsked, mcpInbound } from '../mcpInbound.ts';
import { isObject } from '../message.ts';
import type { State, StatedRequest } from '../requestState.ts';
import { endpointKey, type MethodParts, type Watched } from './methodParts.ts';

/** Runs one request at one server, and writes what came back as the client's era has it. */
export interface CallMethod {
  /** The request as the steps of the gateway see it; also what a retry brought with it. */
  inboundOf(asked: Asked): { readonly inbound: Inbound; readonly state: State };
  run(
    asked: Asked,
    watched: Watched,
    given: { readonly inbound: Inbound; readonly state: State },
    work: (inbound: Inbound) => Promise<Answer>,
  ): Promise<string>;
}

export function createCallMethod(parts: MethodParts): CallMethod {
  const { results, states, asking, requestIds } = parts;
  const observe = createObserving(parts);

  return {
    inboundOf(asked) {
      const { caller, session, reply, params, era, capabilities } = asked;
      const { requestState, inputResponses } = params;
      if (era === 'legacy') {
        const ask = session && canBeAsked(capabilities) ? asking.askOf(session, reply) : undefined;
        return { inbound: mcpInbound(asked, requestIds(), ask), state: NO_STATE };
      }
      if (requestState === undefined && inputResponses === undefined)
        return { inbound: mcpInbound(asked, requestIds()), state: NO_STATE };
      const state =
        requestState === undefined ? NO_STATE : states.open(caller, statedOf(asked), requestState);
      const retry = {
        ...(isObject(inputResponses) && { inputResponses }),
        ...(state.upstream !== undefined && { requestState: state.upstream }),
      };
      // What a client answers to a question of ours is no answer to the server's.
      const isTheirs = state.asked === undefined;
      return { inbound: mcpInbound(asked, requestIds(), undefined, isTheirs ? retry : undefined), state };
    },
    async run(asked, { server, what }, { inbound, state }, work) {
      const { caller, era, signal } = asked;
      const seal = (next: State) => states.seal(caller, statedOf(asked), next);
      let answer: Answer;
      try {
        answer = await observe({ caller, door: 'mcp', server, what, signal }, () => work(inbound));
      } catch (error) {
        if (error instanceof GatewayError && error.code === 'MCP_AUTHORIZATION_REQUIRED')
          return authNeeded(parts, asked, { server, state, seal, error });
        throw error;
      }
      const { result } = answer;
      const signIn = signInOf(result);
      if (signIn) return authNeeded(parts, asked, { server, state, seal, answer, signIn });
      if (answer.asksBack) return results.inputRequired(withOurState(result, seal));
      return results.passed(era, answer);
    },
  };
}

const NO_STATE: State = {};

/** A server's own state goes out under our seal: it comes back for the same user, method and arguments, or not at all. */
function withOurState(result: Json, seal: (state: State) => string): Json {
  const { requestState, inputRequests } = result;
  return {
    ...(isObject(inputRequests) && { inputRequests }),
    requestState: seal(typeof requestState === 'string' ? { upstream: requestState } : {}),
  };
}

function statedOf({ endpoint, method, params }: Asked): StatedRequest {
  return { endpoint: endpointKey(endpoint), method, params };
}
