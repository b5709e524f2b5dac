import { ExchangeFault } from '../exchangeFault.ts';
import { readObject } from './ask.ts';
import { hashOf, readTokenFile, type ReadText } from './clientCredential.ts';
import type { EffectiveSettings } from './effectiveSettings.ts';

/** Who acts for the user, where the provider is told (RFC 8693, section 2.1). */
export interface ActorToken {
  /** Names the actor as it was last read, not the token: that is renewed all the time. Empty without one. */
  version(): string;
  /** Anew for each exchange. Rejects with ExchangeFault. */
  read(): Promise<string | undefined>;
}

export function createActorToken(
  { name, actorTokenFile: file }: EffectiveSettings,
  readText: ReadText,
): ActorToken {
  if (file === undefined) return { version: () => '', read: async () => undefined };
  const fault = (hint: string, cause?: unknown) =>
    new ExchangeFault('OBO_MISCONFIGURED', { hint: `identityProviders.${name}: ${hint}`, cause });
  let version = hashOf([file]);
  return {
    version: () => version,
    async read() {
      const token = await readTokenFile(file, 'actorTokenFile', fault, readText);
      version = hashOf([file, actorIn(token)]);
      return token;
    },
  };
}

/** As the token says of itself: it only tells apart, it proves nothing. */
function actorIn(token: string): string {
  const { iss, sub } = readObject(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) ?? {};
  return typeof sub === 'string' ? JSON.stringify([typeof iss === 'string' ? iss : null, sub]) : token;
}
