import type { UpstreamResponse, EndpointParts, Inbound, ToolSearch } from '@behalf/gateway';
import type { ObserveRequestParts } from '../../rest/mcp/observeRequest.ts';
import type { ConnectLinks } from '../../oauth/connectLinks.ts';
import type { McpRequest } from '../mcpRequest.ts';
import type { ClientRequests } from '../session/clientRequests.ts';
import type { Elicitations } from '../session/elicitations.ts';
import type { SuspendedCalls } from '../suspendedCalls/suspendedCalls.ts';
import type { Paginate } from '../cursors.ts';
import type { RequestStates } from '../requestState.ts';
import type { ResultJson } from '../resultJson.ts';
import type { TaskIds } from '../taskIds.ts';

/** What the methods of both eras need. */
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
  /** Names requests where they are written down. */
  readonly requestIds: () => string;
  /** Where people reach the gateway. */
  readonly baseUrl: () => string;
}

/** Work on one server, counted and logged. */
export type ServerWork = (inbound: Inbound) => Promise<UpstreamResponse>;

export interface CallTarget {
  readonly server: string;
  readonly operation: string;
}

export type ObserveCall = (
  mcpRequest: McpRequest,
  target: CallTarget,
  inbound: Inbound,
  work: ServerWork,
) => Promise<UpstreamResponse>;
