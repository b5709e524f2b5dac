import {
  GatewayError,
  type OAuthServices,
  type ServerSnapshot,
  asDraft,
  buildClientDocument,
  mayRequireOAuth,
  parseDraftName,
} from '@behalf/gateway';
import type { Response } from 'express';
import { type Route, publicRoute } from '../../http/route.ts';

interface ClientDocumentParts {
  readonly oauth: Pick<OAuthServices, 'documentKey'>;
  /** Servers of all tenants. */
  readonly servers: () => readonly ServerSnapshot[];
  /** Whether there is a draft of this id. */
  readonly isDraft: (id: string) => Promise<boolean>;
  readonly baseUrl: () => string;
}

/** An authorization server asks no more often than this. */
const CACHE_ONE_HOUR = 'public, max-age=3600';

/** What authorization servers read about us. It is public by its nature, and holds nothing but addresses. */
export function clientDocumentRoutes({ oauth, servers, isDraft, baseUrl }: ClientDocumentParts): Route[] {
  const findServer = (id: string) =>
    servers().find((candidate) => candidate.id === id && mayRequireOAuth(candidate));

  /**
   * That of a draft is there for as long as the draft, and after that for as long as the server that was made of it: what was given to
   * the client of the draft is renewed as that client.
   */
  async function findDraft(id: string): Promise<{ readonly id: string; readonly name: string } | undefined> {
    const isKnown = findServer(id)?.source === 'user' || (await isDraft(id));
    return isKnown ? asDraft({ id, name: '' }) : undefined;
  }

  async function send(res: Response, file: string, kind: 'key' | 'none'): Promise<void> {
    const id = file.endsWith('.json') ? file.slice(0, -'.json'.length) : '';
    const draftId = parseDraftName(id);
    const server = draftId === undefined ? findServer(id) : await findDraft(draftId);
    const document = server && buildClientDocument(baseUrl(), server, kind);
    if (!document) throw new GatewayError('NOT_FOUND');
    res.set('Cache-Control', CACHE_ONE_HOUR).json(document);
  }

  return [
    publicRoute('get', '/oauth/client/:file', (req, res) => send(res, req.params.file, 'key')),
    publicRoute('get', '/oauth/client/public/:file', (req, res) => send(res, req.params.file, 'none')),
    publicRoute('get', '/oauth/jwks.json', async (_req, res) =>
      res.set('Cache-Control', CACHE_ONE_HOUR).json(await oauth.documentKey.jwks()),
    ),
  ];
}
