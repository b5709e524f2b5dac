import type { Answer, EndpointParts, Endpoint, Inbound } from '@behalf/gateway';
import type { ObservingParts } from '../../rest/mcp/observing.ts';
import type { Asked } from '../asked.ts';
import type { Asking } from '../session/asking.ts';
import type { Parking } from '../parking/parking.ts';
import type { TakePage } from '../cursors.ts';
import type { RequestStates } from '../requestState.ts';
import type { ResultJson } from '../resultJson.ts';

/** What the methods of both eras need. */
export interface MethodParts extends ObservingParts {
  readonly servers: EndpointParts;
  readonly results: ResultJson;
  readonly takePage: TakePage;
  readonly states: RequestStates;
  readonly asking: Pick<Asking, 'askOf'>;
  readonly parking: Pick<Parking, 'begin' | 'resume'>;
  /** Names requests where they are written down. */
  readonly requestIds: () => string;
  /** Where people reach the gateway. */
  readonly base: () => string;
}

/** One text per endpoint: what is sealed for one does not open at another. */
export function endpointKey(endpoint: Endpoint): string {
  return endpoint.kind === 'one' ? `/mcp/${endpoint.server}` : '/mcp';
}

/** Work on one server, counted and logged. */
export type Work = (inbound: Inbound) => Promise<Answer>;

export interface Watched {
  readonly server: string;
  readonly what: string;
}

export type Observed = (asked: Asked, watched: Watched, inbound: Inbound, work: Work) => Promise<Answer>;
