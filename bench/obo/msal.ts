import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { ConfidentialClientApplication, type INetworkModule } from '@azure/msal-node';
import { createTrustingFetch } from '@behalf/devidp';
import { serveJobs } from '../callLoop.ts';
import { summarizeLatencies } from '../loadJob.ts';
import { BENCH_CLIENT, BENCH_SCOPE, BENCH_TENANT } from './rig.ts';

export type MsalJob =
  /** One exchange of `first`, then concurrent exchanges of `token`. */
  | { do: 'cold'; authority: string; caFile: string; first: string; token: string; callers: number }
  /** Looks up cached tokens of this many users for `ms`. */
  | { do: 'look'; users: number; ms: number };

export interface LookupResult {
  lookups: number;
  p50_ms: number;
  p99_ms: number;
}

/** MSAL in its usual form: one application with its own cache. A separate process. */
serveJobs((job: MsalJob): Promise<object> =>
  job.do === 'cold' ? measureColdCalls(job) : measureLookups(job),
);

async function measureColdCalls(job: Extract<MsalJob, { do: 'cold' }>): Promise<object> {
  const trustingFetch = createTrustingFetch(await readFile(job.caFile, 'utf8'));
  const send = async (url: string, init: RequestInit) => {
    const response = await trustingFetch(url, init);
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: (await response.json()) as never,
    };
  };
  const application = createApplication(job.authority, {
    sendGetRequestAsync: (url, options) => send(url, { headers: options?.headers ?? {} }),
    sendPostRequestAsync: (url, options) =>
      send(url, { method: 'POST', headers: options?.headers ?? {}, body: options?.body ?? '' }),
  });
  // The first exchange loads the metadata.
  await exchange(application, job.first);
  await Promise.all(Array.from({ length: job.callers }, () => exchange(application, job.token)));
  return {};
}

/** Writes the cache directly: filling it by exchanges would take an hour, because each write scans the whole cache. */
async function measureLookups({ users, ms }: Extract<MsalJob, { do: 'look' }>): Promise<LookupResult> {
  const authority = `https://login.example/${BENCH_TENANT}`;
  let requests = 0;
  const application = createApplication(authority, {
    sendGetRequestAsync: () => Promise.reject(new Error('Nothing is fetched')),
    sendPostRequestAsync: () => {
      requests += 1;
      return Promise.resolve({ status: 200, headers: {}, body: createEntraResponse() as never });
    },
  });
  await exchange(application, createAssertion(PLACEHOLDER_USER));
  application.getTokenCache().deserialize(repeatForUsers(application.getTokenCache().serialize(), users));
  const latencies: number[] = [];
  const endAt = performance.now() + ms;
  for (let index = 1; performance.now() < endAt; index += 1) {
    // A prime as step size spreads the accesses over the cache.
    const assertion = createAssertion(`user${(index * 7919) % users}`);
    const startedAt = performance.now();
    await exchange(application, assertion);
    latencies.push(performance.now() - startedAt);
  }
  if (requests !== 1) throw new Error('The cache was not used: these are no look-ups');
  const { calls, p50_ms, p99_ms } = summarizeLatencies(latencies, ms);
  return { lookups: calls, p50_ms, p99_ms };
}

function createApplication(authority: string, networkClient: INetworkModule): ConfidentialClientApplication {
  const { host } = new URL(authority);
  const metadata = {
    token_endpoint: `${authority}/oauth2/v2.0/token`,
    authorization_endpoint: `${authority}/oauth2/v2.0/authorize`,
    issuer: `${authority}/v2.0`,
    jwks_uri: `${authority}/discovery/v2.0/keys`,
  };
  return new ConfidentialClientApplication({
    auth: {
      ...{
        clientId: BENCH_CLIENT.id,
        clientSecret: BENCH_CLIENT.secret,
        authority,
        knownAuthorities: [host],
      },
      authorityMetadata: JSON.stringify(metadata),
    },
    system: { networkClient },
  });
}

async function exchange(application: ConfidentialClientApplication, assertion: string): Promise<void> {
  const result = await application.acquireTokenOnBehalfOf({ oboAssertion: assertion, scopes: [BENCH_SCOPE] });
  if (!result?.accessToken) throw new Error('There is no token');
}

/** The user whose entry is copied. */
const PLACEHOLDER_USER = 'pattern';
const createAssertion = (user: string) => `assertion-of-${user}`;
const hashText = (text: string) => createHash('sha256').update(text).digest('base64url');

/** Includes client information: without it, MSAL caches one token for all accounts. */
function createEntraResponse(): object {
  const json = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = {
    aud: BENCH_CLIENT.id,
    oid: PLACEHOLDER_USER,
    sub: PLACEHOLDER_USER,
    tid: BENCH_TENANT,
    ver: '2.0',
  };
  return {
    ...{
      token_type: 'Bearer',
      expires_in: 3600,
      ext_expires_in: 3600,
      access_token: 'token',
      scope: BENCH_SCOPE,
    },
    client_info: json({ uid: PLACEHOLDER_USER, utid: BENCH_TENANT }),
    id_token: `${json({ alg: 'none' })}.${json(claims)}.x`,
  };
}

type CacheSection = Record<string, object>;

/** Copies the cache entry of one user for many users. */
function repeatForUsers(text: string, users: number): string {
  const kinds = Object.entries(JSON.parse(text) as Record<string, CacheSection>).map(([kind, section]) => {
    const entries = Object.entries(section).map((entry) => JSON.stringify(entry));
    const copies = Array.from({ length: users }, (_, i) =>
      entries.map(
        (entry) =>
          JSON.parse(
            entry
              .replaceAll(PLACEHOLDER_USER, `user${i}`)
              .replaceAll(hashText(createAssertion(PLACEHOLDER_USER)), hashText(createAssertion(`user${i}`))),
          ) as [string, object],
      ),
    );
    return [kind, Object.fromEntries(copies.flat())] as const;
  });
  return JSON.stringify(Object.fromEntries(kinds));
}
