import {
  GatewayError,
  type OAuthServices,
  type Registry,
  type ServerDrafts,
  asDraft,
  buildClientDocument,
  mayRequireOAuth,
  parseDraftName,
} from '@behalf/gateway';
import type { Response } from 'express';
import { type Route, publicRoute } from '../../http/route.ts';

interface ClientDocumentParts {
  readonly oauth: Pick<OAuthServices, 'documentKey'>;
  readonly registry: Pick<Registry, 'listAll'>;
  readonly drafts: Pick<ServerDrafts, 'exists'>;
  readonly baseUrl: () => string;
}

const CACHE_ONE_HOUR = 'public, max-age=3600';

/** Client ID metadata documents and the JWKS of the gateway as OAuth client. They are public and contain no secrets. */
export function clientDocumentRoutes({ oauth, registry, drafts, baseUrl }: ClientDocumentParts): Route[] {
  const findServer = (id: string) =>
    registry.listAll().find((candidate) => candidate.id === id && mayRequireOAuth(candidate));

  /**
   * The document of a draft exists as long as the draft or the server created from it, because grants that were issued to the
   * client of the draft are refreshed with the same client id.
   */
  async function findDraft(id: string): Promise<{ readonly id: string; readonly name: string } | undefined> {
    const isKnown = findServer(id)?.source === 'user' || (await drafts.exists(id));
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
