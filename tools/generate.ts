// Writes what is derived from the sources: the JSON Schema of the configuration, the references, .env.example.
// `--check` writes nothing and fails when a file differs, so that no reference can drift from the code.
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
  FacadeClient,
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
  groupTitles,
  httpStatus,
  jsonRpcNumber,
  secretVariableNames,
  unhonouredVariables,
  unusedInterfaceKeys,
  unusedSections,
  variableGroups,
  type Variable,
} from '@behalf/contracts';
import { z } from 'zod';
import { permissionReference } from './permissionReference.ts';
import { cell, code, rows, table, type Row, unusedOf } from './referenceTables.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Repo-relative path to content. Pure, so that a test can compare without touching the tree. */
export async function generateFiles(): Promise<Map<string, string>> {
  return new Map([
    ['config/schema/librechat.schema.json', `${JSON.stringify(jsonSchema(), null, 2)}\n`],
    ['docs/reference/config.md', await markdown(configReference())],
    ['docs/reference/errors.md', await markdown(errorReference())],
    ['docs/reference/environment.md', await markdown(environmentReference())],
    ['docs/reference/permissions.md', await markdown(`${generated}\n\n${permissionReference()}`)],
    ['.env.example', envExample()],
  ]);
}

async function markdown(text: string): Promise<string> {
  const options = await resolveConfig(join(root, 'docs/reference/config.md'));
  return format(text, { ...options, parser: 'markdown' });
}

/** Draft 7, which the YAML support of editors knows best. */
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

const generated = '<!-- Written by `npm run schema`. Change the sources, not this page. -->';

// ---- Pages

function configReference(): string {
  const shared = new Set(
    Object.keys(StdioServer.shape).filter((key) => key in SseServer.shape && key !== 'type'),
  );
  const only = (schema: z.ZodObject): Row[] =>
    rows(schema).filter((row) => !shared.has(row.key.slice(1, -1)));
  const common = rows(StdioServer).filter((row) => shared.has(row.key.slice(1, -1)));
  const unused = [
    ...unusedOf(StdioServer, 'mcpServers.<name>.'),
    ...unusedOf(McpSettings, 'mcpSettings.'),
    ...unusedOf(InterfaceMcpServers, 'interface.mcpServers.'),
  ];
  const top = rows(Config);
  return `${generated}

# Configuration reference

The file is \`librechat.yaml\`, or the one \`CONFIG_PATH\` names. An existing file of LibreChat works; keys marked "Own key of
Behalf" are additions. For completion and checks in an editor, let the first line be
\`# yaml-language-server: $schema=./config/schema/librechat.schema.json\`.

- A key that nobody knows is an error with its line and the nearest known key. Keys that begin with \`x-\` are comments.
- Keys of LibreChat without effect here are named once at start and are never an error.
- The file is read once into a snapshot. A reload with errors keeps the snapshot that runs.
- Duplicate keys, merge keys (\`<<\`), tags, more than one document, more than 1 MiB, 20,000 lines, 64 levels, 100 aliases or 100,000 values
  are refused.

## Top level

${table(top)}
## \`mcpServers.<name>\`

A name may not contain \`/ \\ ? # %\` or control characters, nor be one of our route words, and two names may not become the
same once every character outside \`A-Z a-z 0-9 _ . -\` is an underscore. The transport is what \`type\` says. Without it,
\`command\` means \`stdio\`, a \`ws:\` or \`wss:\` URL \`websocket\`, any other URL \`sse\`.

### All transports

${table(common)}
### \`stdio\`

${table(only(StdioServer))}
### \`websocket\`

${table(only(WebsocketServer))}
### \`sse\`

${table(only(SseServer))}
### \`streamable-http\`

${table(only(StreamableHttpServer))}
### \`oauth\`

${table(rows(OAuth))}
### \`apiKey\`

${table(rows(ApiKey))}
### \`obo\`

On \`sse\` and \`streamable-http\` only, and never next to \`oauth\`, \`apiKey\` or an \`authorization\` header.

${table(rows(Obo))}
### \`customUserVars.<name>\`

${table(rows(UserVariable))}
### \`access\`

${table(rows(Access))}
### \`tools\`

${table(rows(ToolFilter))}
## \`mcpSettings\`

${table(rows(McpSettings))}
### \`mcpSettings.issuers.<issuer>\`

The key is the issuer, compared character by character. [What each is for](../guides/oauth.md#what-you-know-of-an-authorization-server)

${table(rows(OAuthIssuer))}
### \`mcpSettings.endpoint\`

[What it is for](../guides/mcp-endpoint.md#names)

${table(rows(McpEndpoint))}
### \`mcpSettings.endpoint.servers.<name>\`

${table(rows(EndpointServer))}
## \`interface.mcpServers\`

The switches are those of the USER role. What is written counts before what administrators stored; what is left out does not. What
they allow: [permissions](permissions.md).

${table(rows(InterfaceMcpServers))}
## \`endpoints.custom[]\`

${table(rows(CustomEndpoint))}
## \`endpoints.agents.toolApproval\`

${table(rows(ToolApproval))}
### \`endpoints.agents.toolApproval.roles.<role>\`

Rules of a role are added to the general ones. What they mean together: [Decide about tools](../guides/tool-policy.md).

${table(rows(RoleToolPolicy))}
## \`identityProviders.<name>\`

${table(rows(IdentityProvider))}
### \`identityProviders.<name>.targets[]\`

${table(rows(ExchangeTarget))}
## \`authorizationServer\`

${table(rows(AuthorizationServer))}
### \`authorizationServer.clients.<client id>\`

${table(rows(FacadeClient))}
### \`authorizationServer.registration\`

${table(rows(AuthorizationServer.shape.registration.unwrap()))}
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
\`proxy\`, \`caFile\`, \`obo\`, \`identityProviders\` and \`authorizationServer\` only \`\${NAME}\` does. A value that was put in is never looked at again, and one
that is missing is an error, never sent as text. Secrets of the gateway itself are never expanded:
${[...secretVariableNames].sort().map(code).join(', ')}.

## Known keys without effect

Sections: ${unusedSections.map(code).join(', ')}.

Under \`interface\`: ${unusedInterfaceKeys.map(code).join(', ')}.

Elsewhere: ${unused.map(code).join(', ')}, and everything under \`endpoints\` that is not named above.
`;
}

function errorReference(): string {
  const lines = errorCodes.map(
    (name) =>
      `| ${code(name)} | ${httpStatus(name)} | ${jsonRpcNumber(name)} | ${cell(errorKinds[name].title)} | ${cell(errorKinds[name].action)} |`,
  );
  return `${generated}

# Error reference

Every error of the REST interface is \`application/problem+json\` (RFC 9457) with \`code\`; over JSON-RPC the same code stands in
\`data.code\`. Codes are stable, texts may improve.

| Code | HTTP | JSON-RPC | Meaning | What to do |
| --- | --- | --- | --- | --- |
${lines.join('\n')}
`;
}

function groups(): [title: string, variables: [string, Variable][]][] {
  return Object.entries(variableGroups).map(([group, variables]) => [
    groupTitles[group as keyof typeof groupTitles],
    Object.entries<Variable>(variables),
  ]);
}

function environmentReference(): string {
  const sections = groups().map(([title, variables]) => {
    const lines = variables.map(([name, variable]) => {
      const also = [
        ...(variable.alias === undefined ? [] : [`also ${code(variable.alias)}`]),
        ...(variable.secret ? ['secret'] : []),
      ];
      const meaning = also.length > 0 ? `${variable.description} (${also.join('; ')})` : variable.description;
      return `| ${code(name)} | ${variable.type} | ${variable.default === undefined ? '' : code(variable.default)} | ${cell(meaning)} |`;
    });
    return `## ${title}\n\n| Variable | Type | Default | Meaning |\n| --- | --- | --- | --- |\n${lines.join('\n')}\n`;
  });
  return `${generated}

# Environment reference

A variable set to nothing counts as unset. Whole numbers may be products, such as \`15 * 60 * 1000\`. A wrong value, and an
unknown name beginning with \`BEHALF_\` or \`OPENID_\`, stop the start with the name and the reason. A file \`.env\` beside the
process is read if present. Secrets are never shown, and never expanded into the YAML.

${sections.join('\n')}
## Variables of LibreChat without effect

They are named once at start when they are set: ${[...unhonouredVariables].sort().map(code).join(', ')}.
`;
}

function envExample(): string {
  const sections = groups().map(([title, variables]) => {
    const entries = variables.map(
      ([name, variable]) => `# ${variable.description}\n# ${name}=${variable.default ?? ''}\n`,
    );
    return `# ---- ${title} ----\n\n${entries.join('\n')}`;
  });
  return `# Written by \`npm run schema\`. Copy to .env and take the # away from what you set; every value shown is the default.\n\n${sections.join('\n')}`;
}

async function main(): Promise<number> {
  const check = process.argv.includes('--check');
  let different = 0;
  for (const [path, content] of await generateFiles()) {
    const file = join(root, path);
    if (read(file) === content) continue;
    different += 1;
    if (check) console.error(`${path} differs from its sources: run npm run schema`);
    else {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
      console.log(`wrote ${path}`);
    }
  }
  return check && different > 0 ? 1 : 0;
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = await main();
