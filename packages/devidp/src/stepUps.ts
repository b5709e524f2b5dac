import type Provider from 'oidc-provider';
import { provenBy } from './exchange/demandedClaims.ts';
import type { WritableLog } from './exchange/requestLog.ts';

type Proven = Readonly<Record<string, readonly string[]>>;

/** Whoever signs in with a challenge has met it: there are no passwords here, so there are no second factors either. */
export function createStepUps(log: WritableLog) {
  const byUser = new Map<string, Proven>();
  return {
    proven: (userId: string): Proven => byUser.get(userId) ?? {},
    watch(provider: Provider): void {
      provider.on('authorization.success', ({ oidc }) => {
        const { client_id: client, claims, prompt } = oidc.params ?? {};
        const user = oidc.session?.accountId;
        const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
        log.addSignIn({ client: text(client), user, claims: text(claims), prompt: text(prompt) });
        if (user === undefined || typeof claims !== 'string') return;
        byUser.set(user, { ...byUser.get(user), ...provenBy(claims) });
      });
    },
  };
}
