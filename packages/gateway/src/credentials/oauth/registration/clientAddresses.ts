import { draftIdOf, draftName } from '../../../drafts/draft.ts';

/** Where authorization servers find what we publish about ourselves. */
export interface ClientAddresses {
  readonly redirectUri: string;
  /** Of the client that signs with our key, and of the one that has none; null where nobody could fetch them. */
  readonly document: string | null;
  readonly publicDocument: string | null;
}

/**
 * All addresses of ours in a sign-in at one server. A document is for one server alone, so that what one authorization server
 * learns of it is of no use for another server. Only https can be fetched, and only a public name.
 */
export function clientAddresses(
  base: string,
  { id, name }: { readonly id: string; readonly name: string },
): ClientAddresses {
  const isPublished = base.startsWith('https:');
  // A draft has a document of its own: authorization servers keep what they read, and the saved server has another redirect.
  const file = `${encodeURIComponent(draftIdOf(name) === undefined ? id : name)}.json`;
  return {
    redirectUri: `${base}/api/mcp/${encodeURIComponent(name)}/oauth/callback`,
    document: isPublished ? `${base}/oauth/client/${file}` : null,
    publicDocument: isPublished ? `${base}/oauth/client/public/${file}` : null,
  };
}

/** A server as the draft that it may have been made of. */
export function asDraft<S extends { readonly id: string; readonly name: string }>(server: S): S {
  return { ...server, name: draftName(server.id) };
}
