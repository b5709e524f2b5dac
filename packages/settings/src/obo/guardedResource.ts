import type { ExchangeAt, KnownLogin } from './exchangeAt.ts';
import {
  armHosts,
  armIds,
  graphHosts,
  graphIds,
  isMicrosoftId,
  microsoftDomains,
} from './microsoftResources.ts';

/** What a token would open that is worth more than any one server: asked for by the operator's word alone. */
export type Guarded = 'graph' | 'arm' | 'microsoft' | 'bare' | 'login' | 'garbled';

/** Scopes of OpenID Connect itself (core section 5.4 and 11): they name no resource. */
const ofOpenId: ReadonlySet<string> = new Set([
  'openid',
  'profile',
  'email',
  'address',
  'phone',
  'offline_access',
]);

/** To Entra, a scope is a permission behind the id or the URI of an application. */
const WITH_RESOURCE = /^(?:[a-z][a-z0-9+.-]*:\/\/[^/]|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/+[^/])/i;

/** Which of them these scopes, or an audience, ask for. However they are written: who asks has a reason to disguise it. */
export function guardedScopes(
  scopes: readonly string[],
  at: ExchangeAt | 'none',
  login: KnownLogin | null,
): Guarded | undefined {
  if (mayBeEntra(at)) {
    const named = scopes.filter((scope) => !ofOpenId.has(scope.toLowerCase()));
    // Entra takes a scope without a resource for one of Graph, and none at all for Graph as well.
    if (named.length === 0 || !named.every((scope) => WITH_RESOURCE.test(scope))) {
      return at.isMicrosoft ? 'graph' : 'bare';
    }
  }
  return guardedNames(scopes, at, login);
}

/** The same for texts that name a resource alone. */
export function guardedNames(
  names: readonly string[],
  at: ExchangeAt | 'none',
  login: KnownLogin | null,
): Guarded | undefined {
  const own = [...ownRuns(login), ...(at === 'none' || at.clientId === null ? [] : runOf(at.clientId))];
  for (const name of names) {
    const pieces = piecesOf(name);
    if (!pieces) return 'garbled';
    if (pieces.some((piece) => isHost(piece, graphHosts) || isId(piece, graphIds))) return 'graph';
    if (pieces.some((piece) => isHost(piece, armHosts) || isId(piece, armIds))) return 'arm';
    if (mayBeEntra(at) && pieces.some(isMicrosofts)) return 'microsoft';
    if (own.some((run) => holds(pieces, run))) return 'login';
  }
  return undefined;
}

/** An issuer under a customer's own name looks like any other. Who knows better describes it in an entry. */
function mayBeEntra(at: ExchangeAt | 'none'): at is ExchangeAt {
  return at !== 'none' && (at.isMicrosoft || at.isDerived);
}

function isMicrosofts(piece: string): boolean {
  return isHost(piece, microsoftDomains) || isMicrosoftId(compact(piece));
}

/** What names the application people sign in to. A token for it would be taken for a sign-in of theirs. */
function ownRuns(login: KnownLogin | null): string[][] {
  if (!login) return [];
  const { clientId, audience, scopes } = login;
  return [
    ...(clientId === null ? [] : runOf(clientId)),
    ...(audience === null ? [] : runOf(audience)),
    ...scopes.filter((scope) => !ofOpenId.has(scope)).flatMap((scope) => runOf(resourceOf(scope))),
  ];
}

/** Of `api://app/permission` the application: all its permissions are its own, `.default` too. */
function resourceOf(scope: string): string {
  const bare = withoutScheme(scope);
  return /^(.+?)\/+[^/]*$/.exec(bare)?.[1] ?? bare;
}

function runOf(text: string): string[][] {
  const pieces = piecesOf(withoutScheme(text));
  return pieces && pieces.length > 0 ? [pieces] : [];
}

function withoutScheme(text: string): string {
  return text.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '');
}

/** How often a text may be encoded over itself before we stop looking. */
const MOST_LAYERS = 3;

/**
 * What stands between the signs of a URL, in one spelling: without encoding, letter case, empty steps, default ports and
 * the dot behind a host. Undefined when it holds what no scope may (RFC 6749 section 3.3), openly or encoded.
 */
function piecesOf(text: string): string[] | undefined {
  let plain = text;
  for (let layers = 0; plain.includes('%'); layers += 1) {
    if (layers === MOST_LAYERS || !/%[0-9a-f]{2}/i.test(plain)) return undefined;
    try {
      plain = decodeURIComponent(plain);
    } catch {
      return undefined;
    }
  }
  if (!/^[\x21\x23-\x5b\x5d-\x7e]*$/.test(plain)) return undefined;
  return plain
    .toLowerCase()
    .split(/[/:@?#&=;,|]+/)
    .map((piece) => piece.replace(/[{}()]/g, '').replace(/\.+$/, ''))
    .filter((piece) => piece !== '' && piece !== '443' && piece !== '80');
}

function isHost(piece: string, hosts: readonly string[]): boolean {
  return hosts.some((host) => piece === host || piece.endsWith(`.${host}`));
}

function isId(piece: string, ids: readonly string[]): boolean {
  return ids.some((id) => compact(id) === compact(piece));
}

function holds(pieces: readonly string[], run: readonly string[]): boolean {
  return pieces.some((_, start) =>
    run.every((wanted, step) => compact(pieces[start + step] ?? '') === compact(wanted)),
  );
}

/** An id is the same with and without its hyphens. */
function compact(piece: string): string {
  const bare = piece.replaceAll('-', '');
  return /^[0-9a-f]{32}$/.test(bare) ? bare : piece;
}
