// Writes the generated files: JSON Schema of the configuration, references, .env.example. `--check` writes nothing
// and fails if a file differs.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import {
  AuthorizationServer,
  Config,
  CustomEndpoint,
  EndpointServer,
  ExchangeTarget,
  RegisteredClient,
  IdentityProvider,
  InterfaceMcpServers,
  McpEndpoint,
  McpSettings,
  OAuth,
  OAuthIssuer,
  ApiKey,
  Obo,
  Access,
  SseServer,
  StdioServer,
  StreamableHttpServer,
  RoleToolPolicy,
  ToolApproval,
  ToolFilter,
  UserVariable,
  WebsocketServer,
  errorCodes,
  errorKinds,
  variableGroupTitles,
  httpStatus,
  jsonRpcNumber,
  secretVariableNames,
  ignoredVariables,
  unusedInterfaceKeys,
  unusedSections,
  variableGroups,
  type Variable,
} from '@behalf/contracts';
import { z } from 'zod';
import { renderPermissionReference } from './permissionReference.ts';
import {
  escapeCell,
  formatCode,
  toReferenceRows,
  formatReferenceTable,
  type ReferenceRow,
  listUnusedKeys,
} from './referenceTables.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Maps paths to contents. Writes nothing, so that a test can compare. */
export async function generateFiles(): Promise<Map<string, string>> {
  return new Map([
    ['config/schema/librechat.schema.json', `${JSON.stringify(jsonSchema(), null, 2)}\n`],
    ['docs/reference/config.md', await markdown(renderConfigReference())],
    ['docs/reference/errors.md', await markdown(renderErrorReference())],
    ['docs/reference/environment.md', await markdown(renderEnvironmentReference())],
    [
      'docs/reference/permissions.md',
      await markdown(`${GENERATED_NOTICE}\n\n${renderPermissionReference()}`),
    ],
    ['.env.example', renderEnvExample()],
  ]);
}

async function markdown(text: string): Promise<string> {
  const options = await resolveConfig(join(root, 'docs/reference/config.md'));
  return format(text, { ...options, parser: 'markdown' });
}

/** Draft 7, which the YAML support of editors handles best. */
function jsonSchema(): unknown {
  const schema = z.toJSONSchema(Config, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
    reused: 'inline',
    override: ({ jsonSchema: node }) => {
      if (node.keys === 'closed') {
        node.additionalProperties = false;
        node.patternProperties = { '^x-': {} };
      }
      if (node.unused === true) node.deprecated = true;
      delete node.keys;
      delete node.unused;
    },
  });
  return {
    $schema: schema.$schema,
    title: 'librechat.yaml as Behalf reads it',
    ...schema,
  };
}

const GENERATED_NOTICE = '<!-- Written by `npm run schema`. Change the sources, not this page. -->';

// Pages.

function renderConfigReference(): string {
  const shared = new Set(
    Object.keys(StdioServer.shape).filter((key) => key in SseServer.shape && key !== 'type'),
  );
  const onlyRows = (schema: z.ZodObject): ReferenceRow[] =>
    toReferenceRows(schema).filter((row) => !shared.has(row.key.slice(1, -1)));
  const common = toReferenceRows(StdioServer).filter((row) => shared.has(row.key.slice(1, -1)));
  const unusedKeys = [
    ...listUnusedKeys(StdioServer, 'mcpServers.<name>.'),
    ...listUnusedKeys(McpSettings, 'mcpSettings.'),
    ...listUnusedKeys(InterfaceMcpServers, 'interface.mcpServers.'),
  ];
  const topRows = toReferenceRows(Config);
  return `${GENERATED_NOTICE}

# Configuration reference

The file is \`librechat.yaml\`, or the one \`CONFIG_PATH\` names. An existing file of LibreChat works; keys marked
"Behalf extension" are additions. For completion and checks in an editor, let the first line be
\`# yaml-language-server: $schema=./config/schema/librechat.schema.json\`.

- An unknown key is an error with its line and the nearest known key. Keys that begin with \`x-\` are comments.
- Keys of LibreChat without effect here are listed once at start and are never an error.
- The file is read once into a snapshot. A reload with errors keeps the current snapshot.
- Duplicate keys, merge keys (\`<<\`), tags, more than one document, more than 1 MiB, 20,000 lines, 64 levels, 100 aliases or 100,000 values
  are refused.

## Top level

${formatReferenceTable(topRows)}
## \`mcpServers.<name>\`

A name may not contain \`/ \\ ? # %\` or control characters, nor be a reserved route name, and two names may not become the
same when every character outside \`A-Z a-z 0-9 _ . -\` is an underscore. \`type\` selects the transport. Without it,
\`command\` means \`stdio\`, a \`ws:\` or \`wss:\` URL \`websocket\`, any other URL \`sse\`.

### All transports

${formatReferenceTable(common)}
### \`stdio\`

${formatReferenceTable(onlyRows(StdioServer))}
### \`websocket\`

${formatReferenceTable(onlyRows(WebsocketServer))}
### \`sse\`

${formatReferenceTable(onlyRows(SseServer))}
### \`streamable-http\`

${formatReferenceTable(onlyRows(StreamableHttpServer))}
### \`oauth\`

${formatReferenceTable(toReferenceRows(OAuth))}
### \`apiKey\`

${formatReferenceTable(toReferenceRows(ApiKey))}
### \`obo\`

On \`sse\` and \`streamable-http\` only, and never together with \`oauth\`, \`apiKey\` or an \`authorization\` header.

${formatReferenceTable(toReferenceRows(Obo))}
### \`customUserVars.<name>\`

${formatReferenceTable(toReferenceRows(UserVariable))}
### \`access\`

${formatReferenceTable(toReferenceRows(Access))}
### \`tools\`

${formatReferenceTable(toReferenceRows(ToolFilter))}
## \`mcpSettings\`

${formatReferenceTable(toReferenceRows(McpSettings))}
### \`mcpSettings.issuers.<issuer>\`

The key is the issuer, compared exactly. [Purpose of each key](../guides/oauth.md#what-you-know-of-an-authorization-server)

${formatReferenceTable(toReferenceRows(OAuthIssuer))}
### \`mcpSettings.endpoint\`

[Purpose](../guides/mcp-endpoint.md#names)

${formatReferenceTable(toReferenceRows(McpEndpoint))}
### \`mcpSettings.endpoint.servers.<name>\`

${formatReferenceTable(toReferenceRows(EndpointServer))}
## \`interface.mcpServers\`

The permissions are those of the USER role. Keys that are present override the permissions that administrators stored. Meaning of
each permission: [permissions](permissions.md).

${formatReferenceTable(toReferenceRows(InterfaceMcpServers))}
## \`endpoints.custom[]\`

${formatReferenceTable(toReferenceRows(CustomEndpoint))}
## \`endpoints.agents.toolApproval\`

${formatReferenceTable(toReferenceRows(ToolApproval))}
### \`endpoints.agents.toolApproval.roles.<role>\`

Rules of a role are added to the general ones. Details: [Decide about tools](../guides/tool-policy.md).

${formatReferenceTable(toReferenceRows(RoleToolPolicy))}
## \`identityProviders.<name>\`

${formatReferenceTable(toReferenceRows(IdentityProvider))}
### \`identityProviders.<name>.targets[]\`

${formatReferenceTable(toReferenceRows(ExchangeTarget))}
## \`authorizationServer\`

${formatReferenceTable(toReferenceRows(AuthorizationServer))}
### \`authorizationServer.clients.<client id>\`

${formatReferenceTable(toReferenceRows(RegisteredClient))}
### \`authorizationServer.registration\`

${formatReferenceTable(toReferenceRows(AuthorizationServer.shape.registration.unwrap()))}
## Placeholders

| Text | Becomes |
| --- | --- |
| \`\${NAME}\` | the environment variable; unset or empty is an error |
| \`\${NAME:-text}\` | the variable, or the text when it is unset or empty |
| \`\${NAME-text}\` | the variable, or the text when it is unset |
| \`{{NAME}}\` | the value the user entered for a variable declared in \`customUserVars\` |
| \`{{LIBRECHAT_USER_...}}\` | a field of the user: \`ID\`, \`NAME\`, \`USERNAME\`, \`EMAIL\`, \`ROLE\` and others |
| \`{{LIBRECHAT_OPENID_...}}\` | of the user's sign-in: \`ACCESS_TOKEN\`, \`ID_TOKEN\`, \`TOKEN\`, \`USER_ID\`, \`USER_EMAIL\`, \`USER_NAME\`, \`EXPIRES_AT\` |
| \`{{LIBRECHAT_BODY_...}}\` | of the chat request: \`CONVERSATIONID\`, \`PARENTMESSAGEID\`, \`MESSAGEID\` |
| \`{{LIBRECHAT_GRAPH_ACCESS_TOKEN}}\` | a Microsoft Graph token of the user |

They work in \`env\`, \`args\`, \`headers\`, \`oauth_headers\`, \`url\`, the texts of \`oauth\` and \`apiKey.key\`. In \`command\`, \`cwd\`,
\`proxy\`, \`caFile\`, \`obo\`, \`identityProviders\` and \`authorizationServer\` only \`\${NAME}\` does. An inserted value is never expanded again, and a missing
value is an error and is never sent as text. Secrets of the gateway itself are never expanded:
${[...secretVariableNames].sort().map(formatCode).join(', ')}.

## Known keys without effect

Sections: ${unusedSections.map(formatCode).join(', ')}.

Under \`interface\`: ${unusedInterfaceKeys.map(formatCode).join(', ')}.

Elsewhere: ${unusedKeys.map(formatCode).join(', ')}, and everything under \`endpoints\` that is not named above.
`;
}

function renderErrorReference(): string {
  const lines = errorCodes.map(
    (name) =>
      `| ${formatCode(name)} | ${httpStatus(name)} | ${jsonRpcNumber(name)} | ${escapeCell(errorKinds[name].title)} | ${escapeCell(errorKinds[name].action)} |`,
  );
  return `${GENERATED_NOTICE}

# Error reference

Every error of the REST interface is \`application/problem+json\` (RFC 9457) with \`code\`; over JSON-RPC the same code is in
\`data.code\`. Codes are stable; texts may change.

| Code | HTTP | JSON-RPC | Meaning | What to do |
| --- | --- | --- | --- | --- |
${lines.join('\n')}
`;
}

function listVariableGroups(): [title: string, variables: [string, Variable][]][] {
  return Object.entries(variableGroups).map(([group, variables]) => [
    variableGroupTitles[group as keyof typeof variableGroupTitles],
    Object.entries<Variable>(variables),
  ]);
}

function renderEnvironmentReference(): string {
  const sections = listVariableGroups().map(([title, variables]) => {
    const lines = variables.map(([name, variable]) => {
      const suffixes = [
        ...(variable.alias === undefined ? [] : [`also ${formatCode(variable.alias)}`]),
        ...(variable.secret ? ['secret'] : []),
      ];
      const meaning =
        suffixes.length > 0 ? `${variable.description} (${suffixes.join('; ')})` : variable.description;
      return `| ${formatCode(name)} | ${variable.type} | ${variable.default === undefined ? '' : formatCode(variable.default)} | ${escapeCell(meaning)} |`;
    });
    return `## ${title}\n\n| Variable | Type | Default | Meaning |\n| --- | --- | --- | --- |\n${lines.join('\n')}\n`;
  });
  return `${GENERATED_NOTICE}

# Environment reference

An empty variable counts as unset. Whole numbers may be products, such as \`15 * 60 * 1000\`. An invalid value, and an
unknown name beginning with \`BEHALF_\` or \`OPENID_\`, prevent the start; the error has the name and the reason. A file \`.env\` beside the
process is read if present. Secrets are never shown, and never expanded into the YAML.

${sections.join('\n')}
## Variables of LibreChat without effect

They are listed once at start if they are set: ${[...ignoredVariables].sort().map(formatCode).join(', ')}.
`;
}

function renderEnvExample(): string {
  const sections = listVariableGroups().map(([title, variables]) => {
    const entries = variables.map(
      ([name, variable]) => `# ${variable.description}\n# ${name}=${variable.default ?? ''}\n`,
    );
    return `# ---- ${title} ----\n\n${entries.join('\n')}`;
  });
  return `# Written by \`npm run schema\`. Copy to .env and remove the # from what you set; every value shown is the default.\n\n${sections.join('\n')}`;
}

async function main(): Promise<number> {
  const check = process.argv.includes('--check');
  let changedFiles = 0;
  for (const [path, content] of await generateFiles()) {
    const file = join(root, path);
    if (read(file) === content) continue;
    changedFiles += 1;
    if (check) console.error(`${path} differs from its sources: run npm run schema`);
    else {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
      console.log(`wrote ${path}`);
    }
  }
  return check && changedFiles > 0 ? 1 : 0;
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = await main();
