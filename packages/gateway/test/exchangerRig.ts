import { createHash } from 'node:crypto';
import { createKeyring, HiddenText, LightCancellation, createRandom, systemRandom } from '@behalf/kernel';
import type { Cancellation, Leases } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { aPrincipal, createFakeClock, type FakeClock } from '@behalf/testkit';
import {
  type ExchangeEvent,
  type ExchangeJob,
  type ExchangerLimits,
  createExchanger,
} from '../src/credentials/obo/exchanger.ts';
import {
  ExchangeFault,
  type ExchangeProvider,
  type ExchangeRequest,
  type ExchangedToken,
} from '../src/credentials/obo/exchangeProvider.ts';
import type { Cache } from '../src/ports/index.ts';
import { createUserSnapshot } from './servers.ts';

export const HOUR_MS = 3_600_000;
const anyServer = createUserSnapshot({ obo: { scopes: 'notes.read' } });

export interface ProviderRequest {
  readonly request: ExchangeRequest;
  readonly signal: AbortSignal;
  readonly at: number;
}

/** What the provider does with its nth request, counted from 0. */
export type ProviderScript = (
  providerRequests: ProviderRequest,
  attempt: number,
) => Promise<ExchangedToken> | ExchangedToken;

/** An identity provider that does as it is told and counts. */
export function createScriptedProvider(clock: FakeClock, endpoint = 'https://idp.example/token') {
  const providerRequests: ProviderRequest[] = [];
  let script: ProviderScript = (_, attempt) => createExchangedToken(clock, `token-${attempt}`);
  const provider: ExchangeProvider = {
    identity: {
      provider: 'login',
      grant: 'jwt-bearer',
      endpoint,
      clientId: 'behalf',
      credentialVersion: 'v1',
      actor: '',
    },
    async exchange(request, signal) {
      const providerRequest = { request, signal, at: clock.now() };
      providerRequests.push(providerRequest);
      return script(providerRequest, providerRequests.length - 1);
    },
  };
  return {
    provider,
    providerRequests,
    get requests() {
      return providerRequests.length;
    },
    setResponse: (next: ProviderScript) => void (script = next),
    failWith: (fault: () => ExchangeFault) =>
      void (script = () => {
        throw fault();
      }),
  };
}

export function createExchangedToken(clock: FakeClock, token: string, lifetimeMs = HOUR_MS): ExchangedToken {
  return { token, expiresAt: clock.now() + lifetimeMs, lifetimeMs, scopes: undefined };
}

/** An answer that comes after a while: it counts from when it was asked for. */
export function respondSlowly(clock: FakeClock, ms: number, token = 'token'): ProviderScript {
  return (_, attempt) => {
    const script = createExchangedToken(clock, `${token}-${attempt}`);
    return new Promise((resolve) => void clock.timer(ms, () => resolve(script)));
  };
}

export const createUnavailableFault = () =>
  new ExchangeFault('OBO_TEMPORARY', { isRetryable: true, status: 503 });
export const createThrottledFault = (retryAfterMs?: number) =>
  new ExchangeFault('OBO_TEMPORARY', { isRetryable: true, status: 429, retryAfterMs });

export interface JobOptions {
  readonly user?: string;
  readonly server?: string;
  readonly tenant?: string;
  readonly revision?: string;
  /** Another token of the same user. */
  readonly subjectToken?: string;
  readonly subjectLifetimeMs?: number;
  readonly requests?: number;
  readonly signal?: Cancellation;
  readonly provider?: ExchangeProvider;
  readonly scopes?: readonly string[];
}

export interface ExchangerRigOptions {
  readonly replicas?: number;
  readonly limits?: Partial<ExchangerLimits>;
  readonly cache?: (inner: Cache) => Cache;
  readonly leases?: (inner: Leases) => Leases;
  /** What `uniform` gives, one after the other, for ever. */
  readonly randomValues?: readonly number[];
}

/** Exchangers of several processes over one cache and one set of leases, and the provider they all ask. */
export function createExchangerRig({
  replicas = 1,
  limits = {},
  randomValues = [0],
  ...wrappers
}: ExchangerRigOptions = {}) {
  const clock = createFakeClock();
  const store = openMemoryStore({ clock, random: systemRandom });
  const rawCache = store.cache('obo');
  const cache = wrappers.cache?.(rawCache) ?? rawCache;
  const leases = wrappers.leases?.(store.leases) ?? store.leases;
  const idp = createScriptedProvider(clock);
  const logged: [string, Readonly<Record<string, unknown>>][] = [];
  const recorded: ExchangeEvent[] = [];
  let randomIndex = -1;
  const random = {
    ...createRandom((length) => systemRandom.bytes(length)),
    uniform: () => randomValues[(randomIndex += 1) % randomValues.length] ?? 0,
  };
  const parts = {
    cache,
    leases,
    keyring: createKeyring([Buffer.alloc(32, 1)], systemRandom),
    clock,
    random,
    log: (event: string, fields: Readonly<Record<string, unknown>>) => void logged.push([event, fields]),
    record: (event: ExchangeEvent) => void recorded.push(event),
    limits,
  };
  const exchangers = Array.from({ length: replicas }, () => createExchanger(parts));
  const startedAt = clock.now();

  function createJob(options: JobOptions = {}): ExchangeJob {
    const {
      user = 'ada',
      server = 'notes',
      tenant = 'default',
      revision = 'r1',
      requests: maxRequests = 2,
    } = options;
    const { subjectToken = `subject-of-${user}`, scopes = ['notes.read'] } = options;
    const subject = {
      issuer: 'https://idp.example',
      subject: user,
      token: new HiddenText(subjectToken),
      hash: createHash('sha256').update(subjectToken).digest('base64url'),
      expiresAt: startedAt + (options.subjectLifetimeMs ?? 10 * HOUR_MS),
      via: 'session' as const,
    };
    const resource = { url: 'https://server.example/mcp', authorizationServers: async () => [] };
    const request = {
      subject,
      scopes,
      audience: undefined,
      resource: undefined,
      targetServer: resource,
      claims: undefined,
    };
    return {
      context: {
        server: anyServer,
        principal: aPrincipal({ userId: user, tenant }),
        scopes: scopes.join(' '),
      },
      provider: options.provider ?? idp.provider,
      request,
      key: JSON.stringify([tenant, user, server, revision, subjectToken, scopes]),
      holder: { tenant, principal: `${tenant}/${user}`, serverId: server, revision },
      maxRequests,
      signal: options.signal ?? new LightCancellation(),
    };
  }

  return {
    clock,
    store,
    rawCache,
    cache,
    idp,
    logged,
    recorded,
    parts,
    exchangers,
    exchanger: exchangers[0]!,
    createJob,
  };
}

/** Lets time pass in small steps until the work has settled, or `ms` are over. */
export async function advanceUntilSettled<T>(clock: FakeClock, work: Promise<T>, ms = 60_000): Promise<T> {
  let isSettled = false;
  work.then(
    () => (isSettled = true),
    () => (isSettled = true),
  );
  for (let elapsedMs = 0; !isSettled && elapsedMs < ms; elapsedMs += 25) await clock.advance(25);
  return isSettled ? work : Promise.reject(new Error(`not settled within ${ms} ms`));
}

/** What an exchange failed with. */
export async function expectFault(work: Promise<unknown>): Promise<ExchangeFault> {
  const error: unknown = await work.then(
    () => new Error('it did not fail'),
    (reason: unknown) => reason,
  );
  if (error instanceof ExchangeFault) return error;
  throw error;
}
