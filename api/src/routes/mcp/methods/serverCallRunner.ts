import {
  type CallOutcome,
  type EndpointParts,
  GatewayError,
  type Inbound,
  type JsonObject,
  type ToolSearch,
} from '@behalf/gateway';
import { isObject } from '@behalf/kernel';
import type { ConnectLinks } from '../../oauth/connect.ts';
import { type ObserveRequestParts, createObserveRequest } from '../../../http/inbound.ts';
import { endpointKey } from '../endpoint.ts';
import { type McpRequest, createMcpInbound, supportsServerRequests } from '../request.ts';
import type { RequestIdentity, RequestState, RequestStates } from '../requestState.ts';
import { type ResultJson, downgradeContent } from '../results.ts';
import { invalidParams } from '../rpc.ts';
import type { ClientRequests } from '../session/clientRequests.ts';
import type { Elicitations } from '../session/sessionLists.ts';
import { type SignInRequiredInput, rememberElicitation, respondSignInRequired } from '../signIn.ts';
import type { SuspendedCalls } from '../suspendedCalls/suspendedCalls.ts';
import type { Paginate } from './listResult.ts';
import type { TaskIds } from './tasks.ts';

/** The dependencies of the methods of both eras. */
export interface MethodParts extends ObserveRequestParts {
  readonly servers: EndpointParts;
  readonly search: ToolSearch;
  readonly results: ResultJson;
  readonly paginate: Paginate;
  readonly states: RequestStates;
  readonly taskIds: TaskIds;
  readonly clientRequests: Pick<ClientRequests, 'createSender'>;
  readonly elicitations: Pick<Elicitations, 'add'>;
  readonly suspendedCalls: Pick<SuspendedCalls, 'begin' | 'resume'>;
  readonly connectLinks: Pick<ConnectLinks, 'buildConnectPath' | 'computeElicitationId'>;
  /** Creates ids for logs and audit events. */
  readonly requestIds: () => string;
  /** The public URL of the gateway. */
  readonly baseUrl: () => string;
}

type ServerWork = (inbound: Inbound) => Promise<CallOutcome>;

interface CallTarget {
  readonly server: string;
  readonly operation: string;
}

interface CallInput {
  readonly inbound: Inbound;
  readonly state: RequestState;
}

/** Runs requests to one server and serializes the outcome for the era of the client. */
export function createServerCallRunner(parts: MethodParts) {
  const { results, states, clientRequests, suspendedCalls, taskIds, requestIds } = parts;
  const observe = createObserveRequest(parts);

  async function runAndFormat(
    mcpRequest: McpRequest,
    { server, operation }: CallTarget,
    { inbound, state }: CallInput,
    work: ServerWork,
  ): Promise<string> {
    const { caller, era } = mcpRequest;
    const { signal } = inbound;
    const seal = (next: RequestState) => states.seal(caller, toRequestIdentity(mcpRequest), next);
    const respondSignIn = async (details: Omit<SignInRequiredInput, 'server' | 'state' | 'seal'>) => {
      try {
        return await respondSignInRequired(parts, mcpRequest, { server, state, seal, ...details });
      } catch (error) {
        await rememberElicitation(parts, mcpRequest, server, error);
        throw error;
      }
    };
    let outcome: CallOutcome;
    try {
      outcome = await observe({ caller, door: 'mcp', server, operation, signal }, () => work(inbound));
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'MCP_AUTHORIZATION_REQUIRED')
        return respondSignIn({ error, signIn: error.signIn });
      throw error;
    }
    switch (outcome.kind) {
      case 'auth_required':
        return respondSignIn({ signIn: outcome.signIn });
      case 'task': {
        const taskId = taskIds.seal(caller, endpointKey(mcpRequest.endpoint), outcome.task);
        return results.task({ ...outcome.result, taskId });
      }
      case 'input_required':
        return results.inputRequired(withSealedState(outcome.result, seal));
      case 'result':
        return results.fromServer(
          era,
          era === 'legacy' ? downgradeContent(outcome, mcpRequest.version) : outcome,
        );
    }
  }

  return {
    /** Converts a request into the input of the gateway. Opens the state and the responses of a retried request. */
    toInbound(mcpRequest: McpRequest): CallInput {
      const { caller, session, reply, params, era, capabilities } = mcpRequest;
      const { requestState, inputResponses } = params;
      if (era === 'legacy') {
        const sendRequest =
          session && reply.canSendRequests && supportsServerRequests(capabilities)
            ? clientRequests.createSender(session, reply)
            : undefined;
        return { inbound: createMcpInbound(mcpRequest, requestIds(), sendRequest), state: EMPTY_STATE };
      }
      if (requestState === undefined && inputResponses === undefined)
        return { inbound: createMcpInbound(mcpRequest, requestIds()), state: EMPTY_STATE };
      if (inputResponses !== undefined && !isResponseMap(inputResponses))
        throw invalidParams('params.inputResponses must be an object of results');
      const state =
        requestState === undefined
          ? EMPTY_STATE
          : states.open(caller, toRequestIdentity(mcpRequest), requestState);
      // The response to a sign-in prompt of the gateway is not for the server. The state carries the responses that are.
      const isServerPrompt = state.promptCount === undefined;
      const carriedResponses =
        isServerPrompt && isObject(inputResponses) ? inputResponses : state.inputResponses;
      const retry = {
        ...(carriedResponses && { inputResponses: carriedResponses }),
        ...(state.upstream !== undefined && { requestState: state.upstream }),
      };
      return {
        inbound: createMcpInbound(mcpRequest, requestIds(), undefined, retry),
        state: carriedResponses ? { ...state, inputResponses: carriedResponses } : state,
      };
    },
    run(mcpRequest: McpRequest, target: CallTarget, input: CallInput, work: ServerWork): Promise<string> {
      const { caller, era, capabilities } = mcpRequest;
      const { inbound, state } = input;
      if (state.suspendedCall) return suspendedCalls.resume(mcpRequest, state.suspendedCall);
      if (era === 'legacy' || !supportsServerRequests(capabilities))
        return runAndFormat(mcpRequest, target, input, work);
      // A legacy server may send requests during the call, so the call must be able to wait for the client.
      const seal = (next: RequestState) => states.seal(caller, toRequestIdentity(mcpRequest), next);
      return suspendedCalls.begin(mcpRequest, inbound, seal, (suspendedInbound) =>
        runAndFormat(mcpRequest, target, { ...input, inbound: suspendedInbound }, work),
      );
    },
  };
}

const EMPTY_STATE: RequestState = {};

export function isResponseMap(value: unknown): value is JsonObject {
  return isObject(value) && Object.values(value).every(isObject);
}

/** Seals the state of the server: it opens only for the same user, method and arguments. */
function withSealedState(result: JsonObject, seal: (state: RequestState) => string): JsonObject {
  const { requestState, inputRequests } = result;
  return {
    ...(isObject(inputRequests) && { inputRequests }),
    requestState: seal(typeof requestState === 'string' ? { upstream: requestState } : {}),
  };
}

function toRequestIdentity({ endpoint, method, params }: McpRequest): RequestIdentity {
  return { endpoint: endpointKey(endpoint), method, params };
}
