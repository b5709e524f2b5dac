import { parseDraftName, toDraftName } from '../../../drafts/draft.ts';

/** Where authorization servers find what we publish about ourselves. */
export interface ClientUrls {
  readonly redirectUri: string;
  /** Of the client that signs with our key, and of the one that has none; null where nobody could fetch them. */
  readonly documentUrl: string | null;
  readonly publicDocumentUrl: string | null;
}

/**
 * All addresses of ours in a sign-in at one server. A document is for one server alone, so that what one authorization server
 * learns of it is of no use for another server. Only https can be fetched, and only a public name.
 */
export function buildClientUrls(
  baseUrl: string,
  { id, name }: { readonly id: string; readonly name: string },
): ClientUrls {
  const isHttps = baseUrl.startsWith('https:');
  // A draft has a document of its own: authorization servers keep what they read, and the saved server has another redirect.
  const fileName = `${encodeURIComponent(parseDraftName(name) === undefined ? id : name)}.json`;
  return {
    redirectUri: `${baseUrl}/api/mcp/${encodeURIComponent(name)}/oauth/callback`,
    documentUrl: isHttps ? `${baseUrl}/oauth/client/${fileName}` : null,
    publicDocumentUrl: isHttps ? `${baseUrl}/oauth/client/public/${fileName}` : null,
  };
}

/** A server as the draft that it may have been made of. */
export function asDraft<S extends { readonly id: string; readonly name: string }>(server: S): S {
  return { ...server, name: toDraftName(server.id) };
}
