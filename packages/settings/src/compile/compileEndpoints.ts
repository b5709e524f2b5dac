import {
  type CustomEndpoint,
  type Endpoints,
  type Finding,
  type Path,
  type ToolApproval,
  checkHeaderName,
  checkUrlText,
  createFinding,
  parseToolPattern,
} from '@behalf/contracts';
import type { EnvRecord } from '../template/resolveEnv.ts';
import type { Template } from '../template/template.ts';
import { createTextCompiler } from './textCompiler.ts';

export type EndpointSettings = Readonly<Omit<CustomEndpoint, 'headers'>> & {
  readonly headers: Readonly<Record<string, Template>>;
  /** The index in the file. Earlier entries may be skipped. */
  readonly position: number;
};

interface CompiledEndpoints {
  custom: EndpointSettings[];
  toolApproval: ToolApproval | undefined;
  errors: Finding[];
  warnings: Finding[];
  variableNames: ReadonlySet<string>;
}

/** LibreChat's marker for a URL or key that each user enters. */
const USER_PROVIDED = 'user_provided';

/**
 * Compiles the model endpoints. As in LibreChat, an entry whose variable is not set is skipped with a warning: a
 * file often lists more providers than a deployment has keys for. An entry that leaves its URL or key to users is
 * also skipped, because a user must not choose where requests go. All other problems are errors.
 */
export function compileEndpoints(endpoints: Endpoints | undefined, env: EnvRecord): CompiledEndpoints {
  const result: CompiledEndpoints = {
    custom: [],
    toolApproval: endpoints?.agents?.toolApproval,
    ...checkToolApproval(endpoints?.agents?.toolApproval, ['endpoints', 'agents', 'toolApproval']),
    variableNames: new Set(),
  };
  const variableNames = new Set<string>();
  for (const [index, endpoint] of (endpoints?.custom ?? []).entries()) {
    const path = ['endpoints', 'custom', index];
    const textCompiler = createTextCompiler(env);
    const { headers, apiKey, ...rest } = endpoint;
    const compiled: EndpointSettings = {
      ...rest,
      position: index,
      ...(apiKey === undefined ? {} : { apiKey: textCompiler.compileLiteral(apiKey, [...path, 'apiKey']) }),
      baseURL: textCompiler.compileLiteral(endpoint.baseURL, [...path, 'baseURL']),
      headers: Object.fromEntries(
        Object.entries(headers ?? {}).map(([name, text]) => [
          name,
          textCompiler.compileTemplate(text, [...path, 'headers', name], []),
        ]),
      ),
    };
    const unsetFindings = textCompiler.findings.filter((item) => item.code === 'variable_unset');
    const otherFindings = textCompiler.findings.filter((item) => item.code !== 'variable_unset');
    const userProvidedKeys = (['baseURL', 'apiKey'] as const).filter(
      (key) => compiled[key] === USER_PROVIDED,
    );
    if (textCompiler.findings.length === 0 && compiled.baseURL !== USER_PROVIDED) {
      const problem = checkUrlText(compiled.baseURL, ['http:', 'https:']);
      if (problem) otherFindings.push(createFinding([...path, 'baseURL'], 'url', problem));
    }
    for (const name of Object.keys(headers ?? {})) {
      const problem = checkHeaderName(name);
      if (problem)
        otherFindings.push(createFinding([...path, 'headers', name], 'header_name', problem, 'remove it'));
    }
    result.errors.push(...otherFindings);
    result.warnings.push(
      ...unsetFindings.map((item) => ({
        ...item,
        message: `${item.message}; "${endpoint.name}" is skipped`,
      })),
      ...userProvidedKeys.map((key) =>
        createFinding(
          [...path, key],
          'user_provided',
          `cannot be provided by users here; "${endpoint.name}" is skipped`,
          'write the value, or ${NAME}',
        ),
      ),
    );
    if (otherFindings.length + unsetFindings.length + userProvidedKeys.length === 0)
      result.custom.push(compiled);
    for (const name of textCompiler.variableNames) variableNames.add(name);
  }
  return { ...result, variableNames };
}

interface ApprovalReport {
  errors: Finding[];
  warnings: Finding[];
}

const listNames = ['allow', 'deny', 'ask'] as const;
const PATTERN_HINT = 'write mcp:<server>:<tool> or mcp:<server>';

/** Warns about rules without effect. A rule that cannot be parsed is an error. */
function checkToolApproval(approval: ToolApproval | undefined, path: Path): ApprovalReport {
  const report: ApprovalReport = { errors: [], warnings: [] };
  if (!approval) return report;
  checkLists(approval, path, report);
  for (const [role, rules] of Object.entries(approval.roles ?? {})) {
    checkLists(rules, [...path, 'roles', role], report);
  }
  // Policy modules can only deny calls. Ignoring them would allow what they deny.
  if ((approval.hooks ?? []).length > 0) {
    const message = 'policy modules are not supported';
    report.errors.push(createFinding([...path, 'hooks'], 'unsupported', message, 'use deny and ask'));
  }
  return report;
}

type Lists = { [K in (typeof listNames)[number]]?: readonly string[] | undefined };

function checkLists(rules: Lists, path: Path, { errors, warnings }: ApprovalReport): void {
  for (const list of listNames) {
    for (const [index, text] of (rules[list] ?? []).entries()) {
      const pattern = parseToolPattern(text);
      const itemPath = [...path, list, index];
      if (pattern.kind === 'malformed')
        errors.push(createFinding(itemPath, 'tool_pattern', pattern.problem, PATTERN_HINT));
      if (pattern.kind === 'other') {
        const message = 'has no effect: it names no tool of an MCP server';
        warnings.push(createFinding(itemPath, 'tool_pattern_ignored', message, PATTERN_HINT));
      }
    }
  }
}
