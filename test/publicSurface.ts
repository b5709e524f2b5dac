import {
  aclBits,
  aclRoles,
  apiKeyScopes,
  builtInRoles,
  Config,
  errorCodes,
  errorKinds,
  jsonRpcNumber,
  mcpPermissions,
  permissionType,
  principalTypes,
  Problem,
  roleDefaults,
  envVariables,
  type ErrorCode,
  type Variable,
} from '@behalf/contracts';
import { z } from 'zod';
import { searchToolDefinitions } from '../api/src/routes/mcp/methods/searchTools.ts';
import { createMetrics } from '../api/src/routes/ops/metrics.ts';
import { commands } from '../packages/cli/src/commands/commands.ts';
import { exitCodes } from '../packages/cli/src/cliError.ts';
import { formatOverview } from '../packages/cli/src/help.ts';
import { commonOptions } from '../packages/cli/src/parse.ts';
import { isTestFile, readSources } from '../tools/sources.ts';
import { describeSchema, describeZod, joinValues, type JsonSchema } from './describeSchema.ts';
import { routeFields } from './routeFields.ts';

/** The type of a field that holds an error code. `errors.txt` lists the codes once. */
const anyErrorCode = joinValues(errorCodes);

/** Every route, then the fields that it reads and answers. */
export function collectRoutes(routes: readonly string[]): string[] {
  return routes.flatMap((route) => [route, ...addPrefix(route, describeFields(route))]);
}

function describeFields(route: string): string[] {
  const { query, body, events = {}, ...answers } = routeFields[route] ?? {};
  return [
    ...(query ? addPrefix('query', describeZod(query, 'input')) : []),
    ...(body ? addPrefix('body', describeZod(body, 'input')) : []),
    ...Object.entries(answers).flatMap(([status, response]) =>
      typeof response === 'string'
        ? [`${status}: ${response}`]
        : [`${status}: application/json`, ...addPrefix(status, describeZod(response, 'output'))],
    ),
    ...Object.entries(events).flatMap(([name, data]) => [
      `event ${name}`,
      ...(data === Problem ? [] : addPrefix(`event ${name}`, describeZod(data, 'output'))),
    ]),
  ];
}

/** Every path of the configuration file. */
export function collectConfigKeys(): string[] {
  return describeZod(Config, 'input');
}

/** The variables of the gateway and of the command line. */
export function collectVariables(): string[] {
  const cliVariables = formatOverview(commands).matchAll(/^ {2}([A-Z]+_[A-Z_]+) /gm);
  return [
    ...Object.entries<Variable>(envVariables).map(
      ([name, variable]) => `${name}: ${describeVariable(variable)}`,
    ),
    ...[...cliVariables].map(([, name = '']) => `behalf (command line): ${name}`),
  ];
}

function describeVariable({ schema, default: defaultText, alias, secret }: Variable): string {
  const { data: value } = schema.safeParse(defaultText ?? '1');
  const isText = typeof value !== 'number' && typeof value !== 'boolean';
  return [
    schema instanceof z.ZodEnum ? joinValues(schema.options) : isText ? 'string' : typeof value,
    ...(defaultText === undefined ? [] : [`= ${isText ? defaultText : value}`]),
    ...(alias === undefined ? [] : [`(alias ${alias})`]),
    ...(secret ? ['(secret)'] : []),
  ].join(' ');
}

/** Every code with its HTTP status and its JSON-RPC number, and the fields of an error body. */
export function collectErrors(): string[] {
  return [
    ...Object.entries(errorKinds).map(
      ([code, { status }]) => `${code} ${status} ${jsonRpcNumber(code as ErrorCode)}`,
    ),
    ...addPrefix('body', describeZod(Problem, 'output')),
  ];
}

/** The tools that `/mcp?tools=search` offers. */
export function collectTools(): string[] {
  return searchToolDefinitions.flatMap((tool) => {
    const {
      name,
      inputSchema,
      outputSchema = {},
    } = tool as {
      name: string;
      inputSchema: JsonSchema;
      outputSchema?: JsonSchema;
    };
    return [
      name,
      ...addPrefix(`${name} input`, describeSchema(inputSchema)),
      ...addPrefix(`${name} output`, describeSchema(outputSchema)),
    ];
  });
}

export function collectPermissions(): string[] {
  return [
    ...mcpPermissions.flatMap((bit) =>
      builtInRoles.map((role) => `${permissionType}.${bit} of ${role} = ${roleDefaults[role][bit]}`),
    ),
    ...Object.entries(aclBits).map(([name, bit]) => `acl bit ${name} = ${bit}`),
    ...Object.entries(aclRoles).map(([name, bits]) => `acl role ${name} = ${bits}`),
    ...principalTypes.map((type) => `principal type ${type}`),
    ...apiKeyScopes.map((scope) => `API key scope ${scope}`),
  ];
}

/** The command `behalf` with its arguments, options and exit codes. */
export function collectCommands(): string[] {
  const describeOption = ({ name, value, multiple }: { name: string; value?: string; multiple?: boolean }) =>
    `--${name}${value === undefined ? '' : ` ${value}`}${multiple ? ' (repeatable)' : ''}`;
  return [
    ...commands.flatMap(({ path, arguments: positionals, options }) => {
      const command = path.join(' ');
      return [
        command,
        ...positionals.map(
          ({ name, optional }, index) => `${command} argument ${index + 1}${optional ? '?' : ''}: ${name}`,
        ),
        ...options.map((option) => `${command} ${describeOption(option)}`),
      ];
    }),
    ...commonOptions.map((option) => `* ${describeOption(option)}`),
    ...Object.values(exitCodes).map(([code]) => `exit code ${code}`),
  ];
}

/** The keys that the gateway writes into `_meta`. No table declares them, so this reads the string literals of the sources. */
export function collectMetaKeys(): string[] {
  const shipped = readSources().filter(({ path }) => /^(?:api|packages\/gateway)\/src\//.test(path));
  return shipped
    .filter(({ path }) => !isTestFile(path))
    .flatMap(({ text: defaultText }) =>
      [...defaultText.matchAll(/['"`](behalf\/[A-Za-z]+)['"`]/g)].map(([, key = '']) => key),
    );
}

/** The gateway's own metrics with their types and labels, as a collector reads them. */
export async function collectMetrics(): Promise<string[]> {
  const outcomes = new Map([['ok', 1]]);
  const metrics = createMetrics({
    connections: () => ({ shared: 1, user: 1, stateless: 1, breakersOpen: 1 }),
    exchanges: { outcomes, requests: 1 },
    refreshes: { outcomes, notStored: 1 },
    signInStats: { outcomes },
    history: { observe: () => undefined },
    version: '0',
  });
  metrics.observe({ tenant: 't', server: 's', door: 'rest', outcome: 'ok', seconds: 1 });
  const defaultText = await metrics.render();
  return [
    ...[...defaultText.matchAll(/^# TYPE (behalf_\S+ \S+)$/gm)].map(([, line = '']) => line),
    ...[...defaultText.matchAll(/^(behalf_\w+)\{(.*)\} /gm)].flatMap(([, name = '', labels = '']) =>
      [...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => `${name} label ${label}`),
    ),
  ];
}

function addPrefix(prefix: string, lines: readonly string[]): string[] {
  return lines.map((line) => `${prefix} ${line.replace(anyErrorCode, 'error code')}`);
}
