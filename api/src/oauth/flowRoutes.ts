import { FlowStatusQuery, StartFlowRequest, type FlowView } from '@behalf/contracts';
import { GatewayError } from '@behalf/gateway';
import type { Route } from '../http/routes.ts';
import { parseBody, readBody } from '../middleware/body.ts';
import { callerDisconnect } from '../middleware/callerDisconnect.ts';
import { attemptCookies, type ServerSignInParts } from './signInParts.ts';
import { findSignInServer } from './findSignInServer.ts';

/** Beginning, following and ending a sign-in at a server. */
export function flowRoutes(parts: ServerSignInParts): Route[] {
  const { oauth, requirePermission } = parts;
  const { flows } = oauth;
  return [
    {
      method: 'post',
      path: '/api/mcp/:serverName/oauth/start',
      access: 'signed-in',
      scope: 'mcp',
      async handle(req, res, caller) {
        const { serverName } = req.params as { serverName: string };
        const { returnTo, label, scopes } = readBody(req, StartFlowRequest);
        const server = await findSignInServer(parts, caller, serverName);
        // A program begins it for its user, who then goes on in a browser: that one is asked.
        const bindsBrowser = caller.authentication.via === 'session';
        const { flow, isJoined, browserSecret } = await flows.start(server, caller, {
          returnTo,
          label,
          bindsBrowser,
          widenedScopes: scopes,
        });
        if (browserSecret !== undefined) attemptCookies(parts).write(res, { ...flow, browserSecret });
        if (isJoined) throw new GatewayError('MCP_FLOW_PENDING', { flow });
        res.status(201).json(flow satisfies FlowView);
      },
    },
    {
      method: 'post',
      path: '/api/mcp/:serverName/oauth/bind',
      access: 'signed-in',
      // A cookie is of no use to a program.
      scope: 'none',
      async handle(req, res, caller) {
        const { serverName } = req.params as { serverName: string };
        const attempt = await flows.bind(await findSignInServer(parts, caller, serverName), caller);
        attemptCookies(parts).write(res, attempt);
        res.json({ success: true });
      },
    },
    {
      method: 'post',
      path: '/api/mcp/oauth/cancel/:serverName',
      access: 'signed-in',
      scope: 'mcp',
      async handle(req, res, caller) {
        const { serverName } = req.params as { serverName: string };
        const cancelled = await flows.cancel(await findSignInServer(parts, caller, serverName), caller);
        const message = cancelled ? 'OAuth flow cancelled successfully' : 'No active OAuth flow to cancel';
        res.json({ success: true, message });
      },
    },
    {
      method: 'get',
      path: '/api/mcp/oauth/status/:flowId',
      access: 'signed-in',
      scope: 'mcp',
      async handle(req, res, caller) {
        requirePermission()(caller, 'USE');
        const { flowId } = req.params as { flowId: string };
        const { wait: waitMs } = parseBody(req.query, FlowStatusQuery);
        res.json(await flows.readStatus(caller, flowId, { waitMs, signal: callerDisconnect(res) }));
      },
    },
    {
      method: 'get',
      path: '/api/mcp/oauth/tokens/:flowId',
      access: 'signed-in',
      scope: 'mcp',
      async handle(req, res, caller) {
        requirePermission()(caller, 'USE');
        const { flowId } = req.params as { flowId: string };
        res.json(await flows.readTokens(caller, flowId));
      },
    },
  ];
}
