import { httpStatus } from '@behalf/contracts';
import { GatewayError, toReturnPath, type OpenFlowResult, type UserPrincipal } from '@behalf/gateway';
import type { Request, Response } from 'express';
import type { Route } from '../http/routes.ts';
import { isFlowId } from './attemptCookies.ts';
import { sendConfirmPage, connectionRefusedPage } from './connectPages.ts';
import { attemptCookies, type ServerSignInParts } from './signInParts.ts';
import { findSignInServer } from './findSignInServer.ts';

export interface ConnectRouteParts extends ServerSignInParts {
  /** Who is signed in in this browser. */
  readonly findSignedInUser: (req: Request) => Promise<UserPrincipal | null>;
}

const PATH = '/api/mcp/:serverName/oauth/initiate';

/** The connect page: the one way from here to an authorization server, for the user whose sign-in it is and for nobody else. */
export function connectRoutes(parts: ConnectRouteParts): Route[] {
  const { oauth, findSignedInUser, requirePermission } = parts;

  /** What the address says. Whose sign-in it is says the flow, never the address. */
  async function readRequest(
    req: Request,
    principal: UserPrincipal,
    source: Readonly<Record<string, unknown>>,
  ) {
    const { serverName } = req.params as { serverName: string };
    const { flowId, userId } = source;
    await findSignInServer(parts, principal, serverName);
    if (!isFlowId(flowId)) throw new GatewayError('MCP_FLOW_NOT_FOUND');
    if (userId !== undefined && userId !== principal.userId) throw new GatewayError('MCP_FLOW_FORBIDDEN');
    return { flowId, serverName, principal, browserSecret: attemptCookies(parts).read(req, flowId) };
  }

  function redirectToAuthorization(
    res: Response,
    flowId: string,
    { url, browserSecret, expiresAt }: Extract<OpenFlowResult, { kind: 'leave' }>,
  ): void {
    attemptCookies(parts).write(res, { flowId, browserSecret, expiresAt });
    res.set('Referrer-Policy', 'no-referrer').redirect(res.req.method === 'POST' ? 303 : 302, url);
  }

  /** Somebody looks at this in a browser; a program is told as everywhere. */
  async function withErrorPage(req: Request, res: Response, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof GatewayError) || req.accepts(['json', 'html']) !== 'html') throw error;
      res.status(httpStatus(error.code)).type('html').send(connectionRefusedPage(error));
    }
  }

  return [
    {
      method: 'get',
      path: PATH,
      access: 'public',
      async handle(req, res) {
        const caller = await findSignedInUser(req);
        if (!caller) {
          const returnTo = toReturnPath(req.originalUrl);
          res.redirect(302, `/?${new URLSearchParams({ returnTo }).toString()}`);
          return;
        }
        await withErrorPage(req, res, async () => {
          requirePermission()(caller, 'USE');
          const request = await readRequest(req, caller, req.query);
          const opened = await oauth.flows.open(request);
          if (opened.kind === 'leave') redirectToAuthorization(res, request.flowId, opened);
          else sendConfirmPage(res, request.flowId, opened);
        });
      },
    },
    {
      method: 'post',
      path: PATH,
      access: 'signed-in',
      // Only a person in a browser can say that it is they who want this.
      scope: 'none',
      async handle(req, res, caller) {
        await withErrorPage(req, res, async () => {
          const body = (req.body ?? {}) as Record<string, unknown>;
          const request = await readRequest(req, caller, body);
          const token = typeof body['token'] === 'string' ? body['token'] : '';
          redirectToAuthorization(res, request.flowId, await oauth.flows.confirm({ ...request, token }));
        });
      },
    },
  ];
}
