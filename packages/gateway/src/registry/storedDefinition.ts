import { createFinding, type Finding, type Path } from '@behalf/contracts';
import { compileDefinition, parseTemplate, type CompiledDefinition } from '@behalf/settings';
import { isMapping } from './canonicalFields.ts';

/**
 * What a user may say of a server. Everything else is the operator's: what runs on this machine and which files of it
 * are read, through which proxy traffic goes, how long it may take, what other users must enter.
 */
export const inputKeys: ReadonlySet<string> = new Set([
  'type',
  'url',
  'headers',
  'title',
  'description',
  'iconPath',
  'oauth',
  'apiKey',
  'obo',
]);

/** Parts of `oauth` and `obo` that would let a user choose whom a token is for. */
const operatorKeys: Readonly<Record<string, readonly string[]>> = {
  oauth: [
    'audience',
    'forward_audience_on_refresh',
    'resource',
    'legacyAuthDiscovery',
    'skip_code_challenge_check',
    'grant',
    'private_key_file',
    'private_key_id',
    'private_key_alg',
    'authorize_params',
    'dpop',
  ],
  obo: ['provider', 'grant', 'audience', 'resource'],
};

/** Endpoints whose query would be another way to say the same: `audience`, `resource`, `request_uri`, `claims` and more. */
const endpointKeys = ['authorization_url', 'token_url', 'revocation_endpoint'] as const;

/** Never rendered, so nothing in them is a placeholder. */
const literalTextKeys = new Set(['title', 'description', 'iconPath']);

/**
 * A definition that a user stored, under the stricter tier: no process, no `${...}`, no placeholder of the identity,
 * the login or the request; only variables that it declares itself. Refused as a whole, never trimmed: a definition
 * without its forbidden parts is not the one its author meant.
 */
export function compileStored(name: string, value: unknown): CompiledDefinition {
  const errors = findTierProblems(value, ['mcpServers', name]);
  if (errors.length > 0) return { ok: false, errors };
  // No environment: even a text that was overlooked above has nothing to expand to.
  return compileDefinition(name, value, { env: {} });
}

/** Where the definition of a server that is being removed waits. No user can say it, so it never compiles. */
const WITHDRAWN = 'withdrawn';

export function toWithdrawn(definition: unknown): unknown {
  return { [WITHDRAWN]: definition };
}

/** Of a server that is being removed what it was; undefined of all others. */
export function readWithdrawn(definition: unknown): unknown {
  return isMapping(definition) ? definition[WITHDRAWN] : undefined;
}

function findTierProblems(value: unknown, path: Path): Finding[] {
  if (!isMapping(value)) return [createFinding(path, 'wrong_type', 'must be a mapping')];
  const errors: Finding[] = [];
  for (const [key, item] of Object.entries(value)) {
    const fieldPath = [...path, key];
    if (!inputKeys.has(key) || (key === 'type' && item === 'stdio')) {
      errors.push(createFinding(fieldPath, 'operator_only', 'can be set by the operator only', 'remove it'));
    } else if (!literalTextKeys.has(key)) errors.push(...findTextProblems(item, fieldPath));
    const reserved = operatorKeys[key];
    if (reserved && isMapping(item)) errors.push(...findReservedProblems(item, reserved, fieldPath));
  }
  if (isMapping(value['oauth'])) errors.push(...findEndpointProblems(value['oauth'], [...path, 'oauth']));
  return errors;
}

function findReservedProblems(
  section: Record<string, unknown>,
  reserved: readonly string[],
  path: Path,
): Finding[] {
  return reserved
    .filter((key) => Object.hasOwn(section, key))
    .map((key) =>
      createFinding([...path, key], 'operator_only', 'can be set by the operator only', 'remove it'),
    );
}

function findEndpointProblems(oauth: Record<string, unknown>, path: Path): Finding[] {
  return endpointKeys.flatMap((key) => {
    const text = oauth[key];
    return typeof text === 'string' && text.includes('?')
      ? [createFinding([...path, key], 'operator_only', 'must not contain a query', 'remove the query')]
      : [];
  });
}

/** Of every text below: whether it asks for something that is not a user's to ask for. */
function findTextProblems(value: unknown, path: Path): Finding[] {
  if (typeof value === 'string') return findPlaceholderProblem(value, path);
  if (Array.isArray(value)) return value.flatMap((item, index) => findTextProblems(item, [...path, index]));
  if (!isMapping(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => findTextProblems(item, [...path, key]));
}

function findPlaceholderProblem(text: string, path: Path): Finding[] {
  const parsed = parseTemplate(text);
  // A text that is no template is told by whoever compiles it; but never with a `${` in it.
  const hasForbidden = parsed.ok
    ? parsed.template.some(({ kind }) => kind !== 'literal' && kind !== 'userVar')
    : text.includes('${') || text.includes('LIBRECHAT_');
  return hasForbidden
    ? [
        createFinding(
          path,
          'placeholder_forbidden',
          'may contain only user variables, no placeholders for the environment, the identity or the request',
          'remove the placeholder',
        ),
      ]
    : [];
}
