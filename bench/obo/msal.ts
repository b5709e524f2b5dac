import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { ConfidentialClientApplication, type INetworkModule } from '@azure/msal-node';
import { createTrustingFetch } from '@behalf/devidp';
import { serveJobs } from '../callLoop.ts';
import { summarise } from '../loadJob.ts';
import { CLIENT, SCOPE, TENANT } from './scene.ts';

export type MsalJob =
  /** The token once for itself, then the other one by so many callers at once. */
  | { do: 'cold'; authority: string; caFile: string; first: string; token: string; callers: number }
  /** Look-ups in its cache with so many users in it, for as long as that. */
  | { do: 'look'; users: number; ms: number };

export interface LookResult {
  lookups: number;
  p50_ms: number;
  p99_ms: number;
}

/** Microsoft's library as most would use it, one application with its own cache, in a process of its own. */
serveJobs((job: MsalJob): Promise<object> => (job.do === 'cold' ? cold(job) : look(job)));

async function cold(job: Extract<MsalJob, { do: 'cold' }>): Promise<object> {
  const trusting = createTrustingFetch(await readFile(job.caFile, 'utf8'));
  const send = async (url: string, init: RequestInit) => {
    const answer = await trusting(url, init);
    return {
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: (await answer.json()) as never,
    };
  };
  const application = createApplication(job.authority, {
    sendGetRequestAsync: (url, options) => send(url, { headers: options?.headers ?? {} }),
    sendPostRequestAsync: (url, options) =>
      send(url, { method: 'POST', headers: options?.headers ?? {}, body: options?.body ?? '' }),
  });
  // After this one the metadata is known.
  await exchange(application, job.first);
  await Promise.all(Array.from({ length: job.callers }, () => exchange(application, job.token)));
  return {};
}

/** Filling it by exchanges would take an hour: each writes to a cache that is searched from end to end. */
async function look({ users, ms }: Extract<MsalJob, { do: 'look' }>): Promise<LookResult> {
  const authority = `https://login.example/${TENANT}`;
  let requests = 0;
  const application = createApplication(authority, {
    sendGetRequestAsync: () => Promise.reject(new Error('Nothing is fetched')),
    sendPostRequestAsync: () => {
      requests += 1;
      return Promise.resolve({ status: 200, headers: {}, body: entraAnswer() as never });
    },
  });
  await exchange(application, assertionOf(PATTERN));
  application.getTokenCache().deserialize(repeated(application.getTokenCache().serialize(), users));
  const latencies: number[] = [];
  const end = performance.now() + ms;
  for (let turn = 1; performance.now() < end; turn += 1) {
    // All over the cache: a prime.
    const assertion = assertionOf(`user${(turn * 7919) % users}`);
    const begun = performance.now();
    await exchange(application, assertion);
    latencies.push(performance.now() - begun);
  }
  if (requests !== 1) throw new Error('The cache was not used: these are no look-ups');
  const { calls, p50_ms, p99_ms } = summarise(latencies, ms);
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
      ...{ clientId: CLIENT.id, clientSecret: CLIENT.secret, authority, knownAuthorities: [host] },
      authorityMetadata: JSON.stringify(metadata),
    },
    system: { networkClient },
  });
}

async function exchange(application: ConfidentialClientApplication, assertion: string): Promise<void> {
  const result = await application.acquireTokenOnBehalfOf({ oboAssertion: assertion, scopes: [SCOPE] });
  if (!result?.accessToken) throw new Error('There is no token');
}

/** A user who is then copied. */
const PATTERN = 'pattern';
const assertionOf = (user: string) => `assertion-of-${user}`;
const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url');

/** With what tells accounts apart: without it the library keeps one token for all. */
function entraAnswer(): object {
  const json = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { aud: CLIENT.id, oid: PATTERN, sub: PATTERN, tid: TENANT, ver: '2.0' };
  return {
    ...{ token_type: 'Bearer', expires_in: 3600, ext_expires_in: 3600, access_token: 'token', scope: SCOPE },
    client_info: json({ uid: PATTERN, utid: TENANT }),
    id_token: `${json({ alg: 'none' })}.${json(claims)}.x`,
  };
}

type Section = Record<string, object>;

/** The cache of one user as that of many. */
function repeated(text: string, users: number): string {
  const kinds = Object.entries(JSON.parse(text) as Record<string, Section>).map(([kind, section]) => {
    const entries = Object.entries(section).map((entry) => JSON.stringify(entry));
    const many = Array.from({ length: users }, (_, i) =>
      entries.map(
        (entry) =>
          JSON.parse(
            entry
              .replaceAll(PATTERN, `user${i}`)
              .replaceAll(hashOf(assertionOf(PATTERN)), hashOf(assertionOf(`user${i}`))),
          ) as [string, object],
      ),
    );
    return [kind, Object.fromEntries(many.flat())] as const;
  });
  return JSON.stringify(Object.fromEntries(kinds));
}
