import { within, type Clock, type Keyring, type Leases, type Random } from '@behalf/kernel';
import type { Cache } from '../../ports/index.ts';
import type { Log } from '../../upstream/parts.ts';
import { exchangeWithRetry, type Made } from './attempts.ts';
import { createCourses, type Course, type CourseMode } from './courses.ts';
import { createEndpointBackoff } from './endpointBackoff.ts';
import { ExchangeFault, type FaultCode } from './exchangeFault.ts';
import type { ExchangedToken } from './exchangeProvider.ts';
import type { Exchanged, Exchanger, ExchangeJob } from './exchanger.ts';
import { exchangerLimits, type ExchangerLimits } from './exchangerLimits.ts';
import { createFaultMemory } from './faultMemory.ts';
import { missingScopes } from './grantedScopes.ts';
import { createMemoryTier } from './memoryTier.ts';
import { createSharedTier } from './sharedTier.ts';
import { createTokenCache } from './tokenCache.ts';
import { inTurn } from './turns.ts';

/** What came of one exchange, however many waited for it. Holds no token but the ones in the job. */
export interface ExchangeEvent {
  /** Of who came first. */
  readonly job: ExchangeJob;
  readonly outcome: 'ok' | FaultCode;
  /** Token requests made. */
  readonly requests: number;
  /** `memory`: no request was made because the answer was known, which it only is of faults. */
  readonly from: Exchanged['from'];
  readonly providerCode?: string | undefined;
  readonly hint?: string | undefined;
  readonly durationMs: number;
  readonly grantedNarrower: boolean;
}

export interface ExchangerParts {
  /** A namespace of its own. */
  readonly cache: Cache;
  readonly leases: Leases;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** For the audit and the metrics. Tokens that were in memory are no exchange. */
  readonly record: (event: ExchangeEvent) => void;
  readonly limits?: Partial<ExchangerLimits>;
}

export function createExchanger(given: ExchangerParts): Exchanger {
  const { clock, log, record } = given;
  const limits = { ...exchangerLimits, ...given.limits };
  const closing = new AbortController();
  const parts = { ...given, limits, closing: closing.signal };
  const courses = createCourses<Exchanged>();
  const memory = createMemoryTier(clock, limits);
  const shared = createSharedTier(parts);
  const tokens = createTokenCache({ memory, shared, clock, limits, courses: () => courses.all() });
  const faults = createFaultMemory(clock, limits);
  const backoff = createEndpointBackoff(parts);
  let closed: Promise<void> | undefined;

  async function find(course: Course, job: ExchangeJob): Promise<Exchanged | undefined> {
    const token = await tokens.find(course, job);
    return token && { token, from: 'cache', requests: 0 };
  }

  async function keptOrNew(course: Course, job: ExchangeJob, made: Made): Promise<Exchanged> {
    const found = await find(course, job);
    if (found) return found;
    // Before waiting for a turn that would end the same way.
    faults.check(job);
    backoff.check(job);
    // Nothing to share it through: waiting for another's would be for nothing.
    if (!shared.answers) return exchange(course, job, made);
    return inTurn(
      parts,
      job.key,
      () => find(course, job),
      () => exchange(course, job, made),
    );
  }

  async function exchange(course: Course, job: ExchangeJob, made: Made): Promise<Exchanged> {
    closing.signal.throwIfAborted();
    refuseEnded(job);
    faults.check(job);
    const settle = backoff.enter(job);
    let token: ExchangedToken;
    try {
      token = await exchangeWithRetry(parts, job, made);
    } catch (error) {
      const fault = error as ExchangeFault;
      settle(fault);
      faults.learn(job, fault);
      throw fault;
    }
    settle(undefined);
    faults.forget(job);
    await tokens.keep(course, job, token);
    refuseEnded(job);
    return { token, from: 'exchanged', requests: made.requests };
  }

  /** Nothing that came of a user's token outlives it, also when the answer was slow. */
  function refuseEnded({ request: { subject } }: ExchangeJob): void {
    if (subject.expiresAt > clock.now()) return;
    throw new ExchangeFault('OBO_REJECTED', { hint: 'The token of the user ended before it was exchanged.' });
  }

  async function recorded(job: ExchangeJob, work: (made: Made) => Promise<Exchanged>): Promise<Exchanged> {
    const made: Made = { requests: 0 };
    const begunAt = clock.now();
    const tell = (
      event: Pick<ExchangeEvent, 'outcome' | 'from' | 'grantedNarrower'>,
      fault?: ExchangeFault,
    ) => {
      try {
        record({
          job,
          requests: made.requests,
          durationMs: clock.now() - begunAt,
          providerCode: fault?.detail.providerCode,
          hint: fault?.detail.hint,
          ...event,
        });
      } catch (error) {
        log('obo_record_failed', { reason: error instanceof Error ? error.name : 'unknown' });
      }
    };
    try {
      const exchanged = await work(made);
      const isNew = exchanged.from === 'exchanged';
      const missing = isNew ? missingScopes(job.request.scopes, exchanged.token.scopes) : [];
      const grantedNarrower = missing.length > 0;
      if (grantedNarrower) {
        const { provider } = job.provider.identity;
        log('obo_scopes_narrower', { server: job.holder.serverId, provider, missing: missing.join(' ') });
      }
      tell({ outcome: 'ok', from: exchanged.from, grantedNarrower });
      return exchanged;
    } catch (error) {
      const fault =
        error instanceof ExchangeFault ? error : new ExchangeFault('OBO_TEMPORARY', { cause: error });
      const from = made.requests > 0 ? 'exchanged' : 'memory';
      tell({ outcome: fault.code, from, grantedNarrower: false }, fault);
      throw fault;
    }
  }

  function begin(mode: CourseMode, job: ExchangeJob): Promise<Exchanged> {
    if (closing.signal.aborted) return Promise.reject(closing.signal.reason as ExchangeFault);
    const way = mode === 'kept' ? keptOrNew : exchange;
    return courses.join(mode, job, (course) => recorded(job, (made) => way(course, job, made)));
  }

  return {
    peek: (key) => tokens.peek(key),
    async obtain(job) {
      const token = tokens.peek(job.key);
      if (token && !job.signal.aborted) return { token, from: 'memory', requests: 0 };
      return begin('kept', job);
    },
    force: async (job) => begin('forced', job),
    evict: (key, token) => tokens.evict(key, token),
    evictPrincipal: (principal) => tokens.evictPrincipal(principal),
    evictServer: (tenant, serverId) => tokens.evictServer(tenant, serverId),
    close() {
      closing.abort(new ExchangeFault('OBO_TEMPORARY', { hint: 'The gateway is shutting down.' }));
      // An attempt that is under way ends by itself; what it brought is then written and its lease released.
      closed ??= within(clock, limits.attemptMs + limits.sharedMs, courses.idle(), () => undefined).finally(
        () => memory.close(),
      );
      return closed;
    },
  };
}
