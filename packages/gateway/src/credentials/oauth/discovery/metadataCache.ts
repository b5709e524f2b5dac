import { createSingleFlight } from '@behalf/kernel';
import type { ServerSnapshot } from '../../../registry/server.ts';
import { createLruMap } from '../../lruMap.ts';
import { SignInImpossible } from '../signInProblem.ts';
import {
  metadataUrls,
  parseMetadata,
  type AuthorizationServerMetadata,
} from './authorizationServerMetadata.ts';
import { readDocument, type DocumentReaderParts } from './readDocument.ts';

const LIFETIME_MS = 60 * 60 * 1000;
const MAX_ENTRIES = 1_000;

/** How the way to an issuer was judged. What is read over one is not shown to who may not go it. */
export interface MetadataScope {
  readonly audience: ServerSnapshot['audience'];
  readonly isConfigured: boolean;
}

export interface MetadataCache {
  /** Null where the issuer publishes nothing. */
  read(
    parts: DocumentReaderParts,
    scope: MetadataScope,
    issuer: string,
  ): Promise<AuthorizationServerMetadata | null>;
  /** An endpoint was gone: what is known is of no use any more. */
  forget(issuer: string): void;
}

/** Metadata of authorization servers, an hour at most. */
export function createMetadataCache(): MetadataCache {
  const cache = createLruMap<AuthorizationServerMetadata>(MAX_ENTRIES);
  const flights = createSingleFlight<AuthorizationServerMetadata | null>();
  const audiences = ['yaml-server', 'user-server'] as const;
  const keyOf = ({ audience, isConfigured }: MetadataScope, issuer: string) =>
    JSON.stringify([audience, isConfigured, issuer]);

  async function fetchMetadata(
    parts: DocumentReaderParts,
    issuer: string,
  ): Promise<AuthorizationServerMetadata | null> {
    const startedAt = parts.clock.now();
    for (const url of metadataUrls(issuer)) {
      const document = await readDocument(parts, url);
      if (document) return parseMetadata(document, issuer, startedAt);
    }
    return null;
  }

  return {
    async read(parts, scope, issuer) {
      const key = keyOf(scope, issuer);
      const cached = cache.get(key);
      if (cached && parts.clock.now() - cached.fetchedAt < LIFETIME_MS) return cached;
      try {
        const metadata = await flights.run([key], () => fetchMetadata(parts, issuer), { detached: true });
        if (metadata) cache.set(key, metadata);
        return metadata;
      } catch (error) {
        // It says something else of itself now: what it said before does not count any more.
        if (error instanceof SignInImpossible) cache.delete(key);
        throw error;
      }
    },
    forget(issuer) {
      for (const audience of audiences) {
        for (const isConfigured of [true, false]) cache.delete(keyOf({ audience, isConfigured }, issuer));
      }
    },
  };
}
