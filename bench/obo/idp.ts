import { createDevAuthority, createDevIdp, type DevIdp } from '@behalf/devidp';
import { createSampleServer } from '@behalf/devidp/sample';
import { serveJobs } from '../callLoop.ts';
import { BENCH_AUDIENCE, BENCH_CLIENT, BENCH_RESOURCE, BENCH_TENANT } from './rig.ts';

export type IdpJob =
  /** Listens, with so many users: `u0`, `u1` and so on. The certificate of its authority goes into the directory. */
  | { do: 'start'; directory: string; users: number }
  /** A token for the gateway of each, as a sign-in gives it. */
  | { do: 'mint'; users: readonly string[] }
  /** From now on each exchange takes this long. */
  | { do: 'slow'; ms: number }
  /** Token requests since the last time it was asked. */
  | { do: 'count' };

/** Where everything is. */
export interface IdpAddresses {
  caFile: string;
  entra: { issuer: string; authority: string; tokenEndpoint: string };
  tokenEndpoint: string;
  /** A server that demands exchanged tokens and verifies them. */
  sample: string;
}

/** The identity provider, and beside it a server that believes it, in a process of their own. */
let startedIdp: DevIdp | undefined;

serveJobs(async (job: IdpJob): Promise<object> => {
  if (job.do === 'start') return startIdp(job);
  if (!startedIdp?.entra) throw new Error('The provider does not run yet');
  const { entra, requestLog: requests, switches } = startedIdp;
  switch (job.do) {
    case 'mint':
      return { tokens: job.users.map((user) => entra.tokens.mint({ user })) };
    case 'slow':
      switches.clear();
      if (job.ms > 0) switches.set({ kind: 'slow', ms: job.ms });
      return {};
    case 'count': {
      const count = requests.count();
      requests.clear();
      return { count };
    }
  }
});

async function startIdp({ directory, users }: Extract<IdpJob, { do: 'start' }>): Promise<IdpAddresses> {
  const ca = await createDevAuthority();
  const devIdp = await createDevIdp({
    ...{ isProduction: false, port: 0, https: { ca }, tenant: BENCH_TENANT, audience: BENCH_AUDIENCE },
    users: Array.from({ length: users }, (_, i) => ({
      ...{ id: `u${i}`, email: `u${i}@example.test`, name: `User ${i}`, roles: ['USER'] },
    })),
    // Nobody signs in here.
    clients: [{ ...BENCH_CLIENT, redirectUris: ['http://localhost:3080/oauth/openid/callback'] }],
    resources: [BENCH_RESOURCE],
  });
  startedIdp = devIdp;
  const { entra, tokenEndpoint } = devIdp;
  if (!entra) throw new TypeError('There is a tenant');
  const { audience, scopes } = BENCH_RESOURCE;
  const sample = await createSampleServer({
    ...{ isProduction: false, idp: devIdp, audience, scopes, name: 'sample', https: { ca } },
  });
  const { issuer, authority } = entra;
  return {
    caFile: await ca.writeCaFile(directory),
    entra: { issuer, authority, tokenEndpoint: entra.tokenEndpoint },
    ...{ tokenEndpoint, sample: sample.url },
  };
}
