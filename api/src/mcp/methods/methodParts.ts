import type { UpstreamResponse, EndpointParts, Inbound, ToolSearch } from '@behalf/gateway';
import type { ObservingParts } from '../../rest/mcp/observing.ts';
import type { ConnectLinks } from '../../oauth/connectLinks.ts';
import type { Asked } from '../asked.ts';
import type { Asking } from '../session/asking.ts';
import type { Elicitations } from '../session/elicitations.ts';
import type { Parking } from '../parking/parking.ts';
import type { TakePage } from '../cursors.ts';
import type { RequestStates } from '../requestState.ts';
import type { ResultJson } from '../resultJson.ts';
import type { TaskIds } from '../taskIds.ts';

/** What the methods of both eras need. */
export interface MethodParts extends ObservingParts {
  readonly servers: EndpointParts;
  readonly search: ToolSearch;
  readonly results: ResultJson;
  readonly takePage: TakePage;
  readonly states: RequestStates;
  readonly taskIds: TaskIds;
  readonly asking: Pick<Asking, 'askOf'>;
  readonly elicitations: Pick<Elicitations, 'add'>;
  readonly parking: Pick<Parking, 'begin' | 'resume'>;
  readonly links: Pick<ConnectLinks, 'pathOf' | 'cardOf'>;
  /** Names requests where they are written down. */
  readonly requestIds: () => string;
  /** Where people reach the gateway. */
  readonly base: () => string;
}

/** Work on one server, counted and logged. */
export type Work = (inbound: Inbound) => Promise<UpstreamResponse>;

export interface Watched {
  readonly server: string;
  readonly what: string;
}

export type Observed = (
  asked: Asked,
  watched: Watched,
  inbound: Inbound,
  work: Work,
) => Promise<UpstreamResponse>;
