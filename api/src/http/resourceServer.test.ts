import type { IncomingMessage } from 'node:http';
import { GatewayError, type Principal } from '@behalf/gateway';
import { systemRandom } from '@behalf/kernel';
import { aPrincipal } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createProblemMap } from './errors.ts';
import {
  type McpResourceServerParts,
  createEndpointResources,
  createMcpResourceServer,
} from './resourceServer.ts';

const BASE = 'https://gateway.example';
const silent = { error: nothing, warn: nothing, info: nothing, debug: nothing };
function nothing(): void {
  // The log is not looked at here.
}
const baseUrl = () => BASE;
const at = (url: string) => ({ url }) as IncomingMessage;
const problemOf = createProblemMap({ random: systemRandom, logger: silent });

function create(overrides: Partial<McpResourceServerParts> = {}) {
  const server = createMcpResourceServer({
    ...{ issuer: () => 'https://idp.example', scopes: [], offeredScopes: overrides.scopes ?? [] },
    ...{ endpoints: createEndpointResources({ baseUrl }), baseUrl },
    ...overrides,
  });
  return {
    ...server,
    /** What a refusal says at a path. */
    challengeAt: (url: string, error: GatewayError) =>
      server.challenge(problemOf(error), at(url)).headers['WWW-Authenticate'],
    /** Null, or with which code a caller is refused. */
    refusal: (url: string, authentication: Principal['authentication'], kind: Principal['kind'] = 'user') => {
      try {
        server.check({ ...aPrincipal(), kind, authentication }, at(url));
        return null;
      } catch (error) {
        return (error as GatewayError).code;
      }
    },
  };
}

describe('the gateway as a resource server', () => {
  test('a token for an endpoint counts at that endpoint', () => {
    const { refusal } = create();
    const issuedFor = (...endpoints: string[]) => ({ via: 'bearer' as const, endpoints });
    expect(refusal('/mcp', issuedFor(`${BASE}/mcp`))).toBeNull();
    expect(refusal('/mcp?x=1', issuedFor(`${BASE}/mcp`))).toBeNull();
    expect(refusal('/mcp/files', issuedFor(`${BASE}/mcp/files`))).toBeNull();
    expect(refusal('/mcp/my%20files', issuedFor(`${BASE}/mcp/my%20files`))).toBeNull();
    // Whoever may use all servers may use one of them.
    expect(refusal('/mcp/files', issuedFor(`${BASE}/mcp`))).toBeNull();
    expect(refusal('/mcp/files', issuedFor(BASE))).toBeNull();
    expect(refusal('/mcp', issuedFor(`${BASE}/`))).toBeNull();
  });

  test('and nowhere else', () => {
    const { refusal } = create();
    const issuedFor = (...endpoints: string[]) => ({ via: 'bearer' as const, endpoints });
    for (const path of [
      '/mcp',
      '/mcp/mails',
      '/mcp/files/more',
      '/api/user',
      '/',
      '/api/mcp/tools',
      '/MCP/files',
    ]) {
      expect(refusal(path, issuedFor(`${BASE}/mcp/files`))).toBe('AUTH_TOKEN_INVALID');
    }
    expect(refusal('/api/user', issuedFor(BASE, `${BASE}/mcp`))).toBe('AUTH_TOKEN_INVALID');
    expect(refusal('/mcp', issuedFor())).toBe('AUTH_TOKEN_INVALID');
    // What was issued for the gateway as a whole, and whatever is no token, is good everywhere.
    expect(refusal('/api/user', { via: 'bearer' })).toBeNull();
    expect(refusal('/mcp', { via: 'api_key', key: 'k', scopes: [] })).toBeNull();
  });

  test('only our own addresses are endpoints', () => {
    const { isEndpoint } = createEndpointResources({ baseUrl });
    for (const own of [BASE, `${BASE}/`, `${BASE}/mcp`, `${BASE}/mcp/`, `${BASE}/mcp/any`]) {
      expect(isEndpoint(own)).toBe(true);
    }
    const others = [
      ...[
        'https://gateway.example.evil',
        'https://gateway.example.evil/mcp',
        'https://gateway.example@evil/mcp',
      ],
      ...['http://gateway.example/mcp', 'https://other.example/mcp', 'behalf', '', '/mcp', 'mcp'],
      ...[`${BASE}/api`, `${BASE}/mcp2`, `${BASE}/mcp/a/b`, `${BASE}/mcp//`, `${BASE}//mcp`, `${BASE}/MCP`],
    ];
    for (const other of others) expect([other, isEndpoint(other)]).toEqual([other, false]);
  });

  test('all that are asked for must be in it, at MCP endpoints', () => {
    const { refusal, challengeAt } = create({ scopes: ['api://behalf/access_as_user', 'tools'] });
    const presentedBearer = (...scopes: string[]) => ({ via: 'bearer' as const, scopes });
    expect(refusal('/mcp', presentedBearer('access_as_user', 'tools', 'other'))).toBeNull();
    expect(refusal('/mcp', presentedBearer('api://behalf/access_as_user', 'tools'))).toBeNull();
    expect(refusal('/mcp', presentedBearer('access_as_user'))).toBe('TOKEN_SCOPE');
    expect(refusal('/mcp/files', presentedBearer())).toBe('TOKEN_SCOPE');
    expect(refusal('/mcp', { via: 'bearer' })).toBe('TOKEN_SCOPE');
    expect(refusal('/api/user', presentedBearer())).toBeNull();
    expect(refusal('/mcp', presentedBearer(), 'service')).toBeNull();
    expect(challengeAt('/mcp/files', new GatewayError('TOKEN_SCOPE'))).toBe(
      `Bearer error="insufficient_scope", resource_metadata="${BASE}/.well-known/oauth-protected-resource/mcp/files", scope="api://behalf/access_as_user tools"`,
    );
  });

  test('a refusal keeps what it says and adds where to ask', () => {
    const { challengeAt } = create();
    const where = (path: string) => `resource_metadata="${BASE}/.well-known/oauth-protected-resource${path}"`;
    expect(challengeAt('/mcp', new GatewayError('AUTH_REQUIRED'))).toBe(`Bearer ${where('/mcp')}`);
    expect(challengeAt('/mcp/a%2Fb"', new GatewayError('AUTH_TOKEN_INVALID'))).toBe(
      `Bearer error="invalid_token", ${where('/mcp/a%2Fb%22')}`,
    );
    const claims = new GatewayError('OPENID_REAUTH_REQUIRED', { challenge: { claims: '{"a":1}' } });
    expect(challengeAt('/mcp', claims)).toBe(
      `Bearer error="insufficient_claims", claims="eyJhIjoxfQ==", ${where('/mcp')}`,
    );
    // Nothing but a refusal of the caller is one.
    expect(challengeAt('/mcp', new GatewayError('FORBIDDEN'))).toBeUndefined();
    expect(challengeAt('/mcp', new GatewayError('NOT_FOUND'))).toBeUndefined();
    expect(challengeAt('/api/user', new GatewayError('AUTH_REQUIRED'))).toBe('Bearer');
    expect(challengeAt('/api/user', new GatewayError('AUTH_TOKEN_INVALID'))).toBe(
      'Bearer error="invalid_token"',
    );
  });

  test('without an identity provider a refusal is what it was', () => {
    const { challengeAt, routes } = create({ issuer: null });
    expect(challengeAt('/mcp', new GatewayError('AUTH_REQUIRED'))).toBe('Bearer');
    expect(routes).toEqual([]);
  });
});
