import { createSingleFlight } from '@behalf/kernel';
import type { ServerSnapshot } from '../../../registry/server.ts';
import { createRecent } from '../../recent.ts';
import { SignInImpossible } from '../signInProblem.ts';
import { metadataPlaces, readMetadata, type AuthorizationServer } from './authorizationServer.ts';
import { readDocument, type ReadingParts } from './readDocument.ts';

const LIFETIME_MS = 60 * 60 * 1000;
const MOST_REMEMBERED = 1_000;

/** How the way to an issuer was judged. What is read over one is not shown to who may not go it. */
export interface MetadataScope {
  readonly audience: ServerSnapshot['audience'];
  readonly isVouched: boolean;
}

export interface MetadataCache {
  /** Null where the issuer publishes nothing. */
  read(parts: ReadingParts, scope: MetadataScope, issuer: string): Promise<AuthorizationServer | null>;
  /** An endpoint was gone: what is known is of no use any more. */
  forget(issuer: string): void;
}

/** Metadata of authorization servers, an hour at most. */
export function createMetadataCache(): MetadataCache {
  const known = createRecent<AuthorizationServer>(MOST_REMEMBERED);
  const flights = createSingleFlight<AuthorizationServer | null>();
  const audiences = ['yaml-server', 'user-server'] as const;
  const keyOf = ({ audience, isVouched }: MetadataScope, issuer: string) =>
    JSON.stringify([audience, isVouched, issuer]);

  async function ask(parts: ReadingParts, issuer: string): Promise<AuthorizationServer | null> {
    const begun = parts.clock.now();
    for (const url of metadataPlaces(issuer)) {
      const document = await readDocument(parts, url);
      if (document) return readMetadata(document, issuer, begun);
    }
    return null;
  }

  return {
    async read(parts, scope, issuer) {
      const key = keyOf(scope, issuer);
      const found = known.get(key);
      if (found && parts.clock.now() - found.fetchedAt < LIFETIME_MS) return found;
      try {
        const metadata = await flights.run([key], () => ask(parts, issuer), { detached: true });
        if (metadata) known.set(key, metadata);
        return metadata;
      } catch (error) {
        // It says something else of itself now: what it said before does not count any more.
        if (error instanceof SignInImpossible) known.delete(key);
        throw error;
      }
    },
    forget(issuer) {
      for (const audience of audiences) {
        for (const isVouched of [true, false]) known.delete(keyOf({ audience, isVouched }, issuer));
      }
    },
  };
}
