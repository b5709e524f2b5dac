import { createKeyring, HiddenText, systemRandom } from '@behalf/kernel';
import type { OboProblem } from '@behalf/settings';
import { aPrincipal, createFakeClock } from '@behalf/testkit';
import { createDpop } from '../src/credentials/oauth/dpop.ts';
import { createBoundKeys } from '../src/credentials/obo/key.ts';
import type { ExchangeResult, ExchangeJob } from '../src/credentials/obo/exchanger.ts';
import type { ExchangeProvider } from '../src/credentials/obo/exchangeProvider.ts';
import {
  createOboTokens,
  createTokenRequestBudget,
  type RefusedExchange,
} from '../src/credentials/obo/bearer.ts';
import type { Subject } from '../src/credentials/obo/subject.ts';
import type { Principal } from '../src/principal/principal.ts';
import { createUserSnapshot } from './servers.ts';

const keyring = createKeyring([Buffer.alloc(32, 5)], systemRandom);

export const adaPrincipal = aPrincipal({ userId: 'ada', issuer: 'https://issuer.example' });

export function createSubject(overrides: Partial<Subject> = {}): Subject {
  return {
    issuer: 'https://issuer.example',
    subject: 'ada',
    token: new HiddenText('own token'),
    hash: 'hash',
    expiresAt: 3_600_000,
    via: 'session',
    ...overrides,
  };
}

export const exchangeProvider: ExchangeProvider = {
  identity: {
    provider: 'login',
    grant: 'jwt-bearer',
    endpoint: 'https://issuer.example/token',
    clientId: 'behalf',
    credentialVersion: '1',
    actor: '',
  },
  exchange: () => Promise.reject(new Error('The exchanger of this rig asks nobody')),
};

/** The way to a token over parts that count: what was asked, exchanged and forgotten. */
export function createOboTokensRig(
  definition: Parameters<typeof createUserSnapshot>[0] = { obo: { scopes: 'b a' } },
) {
  const server = createUserSnapshot(definition);
  const cachedTokens = new Map<string, string>();
  const rig = {
    server,
    cachedTokens,
    subject: createSubject() as Subject | Promise<Subject> | (() => Subject | Promise<Subject>),
    /** Whether it is still there as it was. */
    isCurrent: true,
    isTrusted: true as boolean | Promise<boolean> | (() => boolean | Promise<boolean>),
    problem: null as OboProblem | null,
    found: exchangeProvider as ExchangeProvider | undefined,
    readCounts: { trust: 0, target: 0, subject: 0 },
    jobs: [] as { how: 'obtain' | 'force'; job: ExchangeJob }[],
    evicted: [] as [key: string, token: string][],
    claims: [] as [principal: string, claims: string][],
    refusals: [] as RefusedExchange[],
    /** What an exchange gives; by default a new token each time, with one request. */
    exchange: async (): Promise<ExchangeResult> => createExchange(`token ${rig.jobs.length}`),
    bearer: (principal: Principal = adaPrincipal, budget = createTokenRequestBudget()) =>
      tokens.bearerFor(server, principal, readSettings(server), budget),
  };
  const runJob = async (mode: 'obtain' | 'force', job: ExchangeJob): Promise<ExchangeResult> => {
    rig.jobs.push({ how: mode, job });
    const exchanged = await rig.exchange();
    cachedTokens.set(job.key, exchanged.token.token);
    return exchanged;
  };
  const tokens = createOboTokens({
    getCurrentServer: () => (rig.isCurrent ? server : undefined),
    trust: {
      isTrusted() {
        rig.readCounts.trust += 1;
        return typeof rig.isTrusted === 'function' ? rig.isTrusted() : rig.isTrusted;
      },
    },
    targets: {
      findProblem() {
        rig.readCounts.target += 1;
        return rig.problem;
      },
    },
    subjects: {
      current() {
        rig.readCounts.subject += 1;
        return typeof rig.subject === 'function' ? rig.subject() : rig.subject;
      },
    },
    providers: () => ({ find: () => rig.found }),
    boundKeys: createBoundKeys({
      keyring,
      dpop: createDpop({ clock: createFakeClock(), random: systemRandom }),
    }),
    resourceOf: () => ({ url: 'https://server.example/mcp', authorizationServers: async () => [] }),
    exchanger: {
      peek(key) {
        const token = cachedTokens.get(key);
        return token === undefined ? undefined : createExchange(token).token;
      },
      async obtain(job) {
        const token = cachedTokens.get(job.key);
        return token === undefined
          ? runJob('obtain', job)
          : { ...createExchange(token, 0), source: 'memory' };
      },
      force: (job) => runJob('force', job),
      async evict(key, token) {
        rig.evicted.push([key, token]);
        if (cachedTokens.get(key) === token) cachedTokens.delete(key);
      },
    },
    pendingClaims: { put: async (principal, claims) => void rig.claims.push([principal, claims]) },
    onRefused: (request) => void rig.refusals.push(request),
  });
  return rig;
}

export function createExchange(token: string, requests = 1): ExchangeResult {
  return {
    token: { token, expiresAt: 3_600_000, lifetimeMs: 3_600_000, scopes: undefined },
    source: 'exchanged',
    requests,
  };
}

function readSettings({ settings }: ReturnType<typeof createUserSnapshot>) {
  if (!('obo' in settings) || !settings.obo) throw new Error('The server has no obo');
  return settings.obo;
}

/** As a server writes it: base64 of JSON. */
export function createClaimsChallenge(claims: unknown) {
  return {
    scheme: 'bearer',
    error: 'insufficient_claims',
    scope: undefined,
    resourceMetadata: undefined,
    claims: Buffer.from(JSON.stringify(claims)).toString('base64'),
  };
}
