import type Provider from 'oidc-provider';
import { toProvenClaims } from './exchange/claimsRequest.ts';
import type { WritableRequestLog } from './exchange/requestLog.ts';

type ProvenClaims = Readonly<Record<string, readonly string[]>>;

/** Whoever signs in with a challenge has met it: there are no passwords here, so there are no second factors either. */
export function createStepUps(requestLog: WritableRequestLog) {
  const claimsByUser = new Map<string, ProvenClaims>();
  return {
    getProvenClaims: (userId: string): ProvenClaims => claimsByUser.get(userId) ?? {},
    observe(provider: Provider): void {
      provider.on('authorization.success', ({ oidc }) => {
        const { client_id: client, claims, prompt } = oidc.params ?? {};
        const user = oidc.session?.accountId;
        const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
        requestLog.addSignIn({ client: text(client), user, claims: text(claims), prompt: text(prompt) });
        if (user === undefined || typeof claims !== 'string') return;
        claimsByUser.set(user, { ...claimsByUser.get(user), ...toProvenClaims(claims) });
      });
    },
  };
}
