import { ExchangeFault } from '../exchangeFault.ts';
import { parseJsonObject } from './providerRequest.ts';
import { hashTuple, readTokenFile, type ReadTextFile } from './clientCredential.ts';
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
  readText: ReadTextFile,
): ActorToken {
  if (file === undefined) return { version: () => '', read: async () => undefined };
  const fault = (hint: string, cause?: unknown) =>
    new ExchangeFault('OBO_MISCONFIGURED', { hint: `identityProviders.${name}: ${hint}`, cause });
  let version = hashTuple([file]);
  return {
    version: () => version,
    async read() {
      const token = await readTokenFile(file, 'actorTokenFile', fault, readText);
      version = hashTuple([file, readActor(token)]);
      return token;
    },
  };
}

/** As the token says of itself: it only tells apart, it proves nothing. */
function readActor(token: string): string {
  const { iss, sub } = parseJsonObject(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) ?? {};
  return typeof sub === 'string' ? JSON.stringify([typeof iss === 'string' ? iss : null, sub]) : token;
}
