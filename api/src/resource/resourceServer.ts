import type { IncomingMessage } from 'node:http';
import { GatewayError, type Principal } from '@behalf/gateway';
import type { Route } from '../http.ts';
import type { Answer } from '../middleware/problem.ts';
import type { Endpoints } from './endpoints.ts';
import { metadataRoutes } from './metadataRoutes.ts';

/** The gateway as an OAuth resource server: which tokens count where, and where to get one. */
export interface ResourceServer {
  readonly routes: readonly Route[];
  /** Throws unless the token that a caller is known by counts for this request. Whoever has no token has nothing to ask. */
  readonly check: (caller: Principal, req: IncomingMessage) => void;
  /** At an MCP endpoint, a refusal also says where the document about it is. */
  readonly challenge: (answer: Answer, req: IncomingMessage) => Answer;
}

export interface ResourceServerParts {
  /** Who issues tokens for us. Null: API keys alone, and there is nowhere to send anybody. */
  readonly issuer: (() => string) | null;
  /** What a user's token of the identity provider must have been given for, at MCP endpoints. */
  readonly scopes: readonly string[];
  /** What clients are told to ask for. */
  readonly offered: readonly string[];
  readonly endpoints: Endpoints;
  readonly base: () => string;
}

const CHALLENGE = 'WWW-Authenticate';

export function createResourceServer(parts: ResourceServerParts): ResourceServer {
  const { issuer, scopes, offered, endpoints, base } = parts;
  const scope = offered.length > 0 ? [`scope="${offered.join(' ')}"`] : [];

  return {
    routes: issuer === null ? [] : metadataRoutes({ issuer, scopes: offered, base }),
    check({ kind, authentication: by }, req) {
      if (by.via !== 'bearer' || (by.endpoints === undefined && scopes.length === 0)) return;
      const path = pathOf(req);
      if (by.endpoints && !by.endpoints.some((audience) => endpoints.covers(audience, path))) {
        throw new GatewayError('AUTH_TOKEN_INVALID');
      }
      // Nothing is delegated to a program: its roles say what it may do.
      if (kind === 'service' || endpoints.at(path) === null) return;
      // Our own are given for nothing else.
      if (by.grant) return;
      if (!scopes.every((wanted) => isGiven(wanted, by.scopes ?? []))) throw new GatewayError('TOKEN_SCOPE');
    },
    challenge(answer, req) {
      const { code } = answer.problem;
      const current = answer.headers[CHALLENGE] ?? (code === 'TOKEN_SCOPE' ? INSUFFICIENT : undefined);
      const endpoint = issuer === null || current === undefined ? null : endpoints.at(pathOf(req));
      if (!endpoint || current === undefined) return answer;
      const [scheme, ...given] = current.split(/ (.*)/, 2);
      const more = [...given, `resource_metadata="${endpoint.metadata}"`, ...scope];
      return { ...answer, headers: { ...answer.headers, [CHALLENGE]: `${scheme ?? ''} ${more.join(', ')}` } };
    },
  };
}

/** RFC 6750, section 3.1. */
const INSUFFICIENT = 'Bearer error="insufficient_scope"';

/** Entra is asked for a scope with the API's name before it, and writes only what follows into the token. */
function isGiven(wanted: string, given: readonly string[]): boolean {
  const short = wanted.slice(wanted.lastIndexOf('/') + 1);
  // Whatever was consented to: the token names it instead.
  if (short === '.default') return given.length > 0;
  return given.includes(wanted) || given.includes(short);
}

function pathOf({ url = '/' }: IncomingMessage): string {
  const cut = url.indexOf('?');
  return cut === -1 ? url : url.slice(0, cut);
}
