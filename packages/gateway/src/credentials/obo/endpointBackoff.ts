import type { Clock } from '@behalf/kernel';
import type { Log } from '../../upstream/parts.ts';
import { createLruMap } from '../lruMap.ts';
import { ExchangeFault } from './exchangeFault.ts';
import type { ExchangeJob } from './exchanger.ts';
import type { ExchangerLimits } from './exchangerLimits.ts';

/** Leaves a token endpoint alone that does not answer, or that asked for it. */
export interface EndpointBackoff {
  /** Throws while it is left alone. */
  check(job: ExchangeJob): void;
  /** The same, and while another tries it out. Else the outcome must be told, once. */
  enter(job: ExchangeJob): (fault: ExchangeFault | undefined) => void;
}

export interface EndpointBackoffParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: Pick<
    ExchangerLimits,
    'failuresToOpen' | 'throttledUsersToOpen' | 'openMs' | 'longestOpenMs' | 'longestThrottledMs'
  >;
}

const MOST_ENDPOINTS = 1_000;
/** Who comes while one is trying it out. */
const PROBE_RETRY_MS = 1_000;

interface Endpoint {
  failures: number;
  /** 0: closed. */
  openMs: number;
  openUntil: number;
  isProbed: boolean;
  /** Who was told to come back later since anybody last got a token. */
  readonly throttled: Set<string>;
  throttledUntil: number;
}

export function createEndpointBackoff({ clock, log, limits }: EndpointBackoffParts): EndpointBackoff {
  const endpoints = createLruMap<Endpoint>(MOST_ENDPOINTS);

  function stateOf(name: string): Endpoint {
    const known = endpoints.get(name);
    if (known) return known;
    const fresh: Endpoint = {
      failures: 0,
      openMs: 0,
      openUntil: 0,
      isProbed: false,
      throttled: new Set(),
      throttledUntil: 0,
    };
    endpoints.set(name, fresh);
    return fresh;
  }

  function open(endpoint: Endpoint, ms: number, name: string): void {
    endpoint.openMs = Math.min(ms, limits.longestOpenMs);
    endpoint.openUntil = clock.now() + endpoint.openMs;
    log('obo_endpoint_left_alone', { endpoint: name, ms: endpoint.openMs, reason: 'unavailable' });
  }

  /**
   * One user who is throttled says nothing of the others. When several are, with nobody served between them, it is us
   * who are; then the endpoint is left alone for as long as it asked, and never longer.
   */
  function throttle(
    endpoint: Endpoint,
    principal: string,
    retryAfterMs: number | undefined,
    name: string,
  ): void {
    if (retryAfterMs === undefined) return;
    endpoint.throttled.add(principal);
    if (endpoint.throttled.size < limits.throttledUsersToOpen) return;
    const ms = Math.min(retryAfterMs, limits.longestThrottledMs);
    endpoint.throttledUntil = Math.max(endpoint.throttledUntil, clock.now() + ms);
    endpoint.throttled.clear();
    log('obo_endpoint_left_alone', { endpoint: name, ms, reason: 'throttled' });
  }

  function throwIfLeftAlone({ throttledUntil, openUntil }: Endpoint): void {
    const wait = Math.max(throttledUntil, openUntil) - clock.now();
    if (wait > 0) throw leftAlone(wait);
  }

  return {
    check: ({ provider }) => throwIfLeftAlone(stateOf(provider.identity.endpoint)),
    enter({ provider, holder }) {
      const name = provider.identity.endpoint;
      const endpoint = stateOf(name);
      throwIfLeftAlone(endpoint);
      const isProbe = endpoint.openMs > 0;
      if (isProbe) {
        if (endpoint.isProbed) throw leftAlone(PROBE_RETRY_MS);
        endpoint.isProbed = true;
      }
      return (fault) => {
        if (isProbe) endpoint.isProbed = false;
        if (fault?.detail.status === 429) {
          throttle(endpoint, holder.principal, fault.detail.retryAfterMs, name);
        } else if (fault?.kind === 'idp_unavailable') {
          // What fails of itself, without the network or the provider, says nothing of the endpoint.
          if (!fault.detail.mayRepeat) return;
          endpoint.failures += 1;
          // Those that were under way when it opened fail as well: only a probe makes it longer.
          if (isProbe) open(endpoint, endpoint.openMs * 2, name);
          else if (endpoint.openMs === 0 && endpoint.failures >= limits.failuresToOpen) {
            open(endpoint, limits.openMs, name);
          }
          return;
        } else if (fault === undefined) endpoint.throttled.clear();
        // It answers, whatever it says.
        endpoint.failures = 0;
        endpoint.openMs = 0;
        endpoint.openUntil = 0;
      };
    },
  };
}

function leftAlone(retryAfterMs: number): ExchangeFault {
  return new ExchangeFault('OBO_TEMPORARY', {
    retryAfterMs,
    hint: 'The token endpoint failed or asked for a pause. It is left alone for a moment.',
  });
}
