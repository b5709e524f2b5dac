import { ExchangeFault } from '../exchangeFault.ts';
import { parseJsonObject } from './providerRequest.ts';
import { hashTuple, readTokenFile, type ReadTextFile } from './clientCredential.ts';
import type { EffectiveSettings } from './effectiveSettings.ts';

/** Who acts for the user, where the provider is told (RFC 8693, section 2.1). */
export interface ActorToken {
  /** Names the actor as it was last read, not the token: that is renewed all the time. Empty without one. */
  getFingerprint(): string;
  /** Anew for each exchange. Rejects with ExchangeFault. */
  read(): Promise<string | undefined>;
}

export function createActorToken(
  { name, actorTokenFile: file }: EffectiveSettings,
  readText: ReadTextFile,
): ActorToken {
  if (file === undefined) return { getFingerprint: () => '', read: async () => undefined };
  const createFault = (hint: string, cause?: unknown) =>
    new ExchangeFault('OBO_MISCONFIGURED', { hint: `identityProviders.${name}: ${hint}`, cause });
  let fingerprint = hashTuple([file]);
  return {
    getFingerprint: () => fingerprint,
    async read() {
      const token = await readTokenFile(file, 'actorTokenFile', createFault, readText);
      fingerprint = hashTuple([file, readActorIdentity(token)]);
      return token;
    },
  };
}

/** As the token says of itself: it only tells apart, it proves nothing. */
function readActorIdentity(token: string): string {
  const { iss, sub } = parseJsonObject(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) ?? {};
  return typeof sub === 'string' ? JSON.stringify([typeof iss === 'string' ? iss : null, sub]) : token;
}
