import { createDevAuthority, createDevIdp, type DevIdp } from '@behalf/devidp';
import { createSampleServer } from '@behalf/devidp/sample';
import { serveJobs } from '../callLoop.ts';
import { BENCH_AUDIENCE, BENCH_CLIENT, BENCH_RESOURCE, BENCH_TENANT } from './rig.ts';

export type IdpJob =
  /** Starts with users `u0`, `u1` and so on. Writes the certificate of its authority to the directory. */
  | { do: 'start'; directory: string; users: number }
  /** Mints a token for the gateway for each user, like a sign-in. */
  | { do: 'mint'; users: readonly string[] }
  /** Delays each exchange by this time from now on. */
  | { do: 'slow'; ms: number }
  /** Returns the number of token requests since the last count. */
  | { do: 'count' };

/** All URLs. */
export interface IdpAddresses {
  caFile: string;
  entra: { issuer: string; authority: string; tokenEndpoint: string };
  tokenEndpoint: string;
  /** A server that requires and verifies exchanged tokens. */
  sample: string;
}

/** The identity provider and a server that trusts it, in a separate process. */
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
    // No sign-in takes place here.
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
