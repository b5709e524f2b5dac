import {
  finding,
  headerNameProblem,
  urlProblem,
  type CustomEndpoint,
  type Endpoints,
  type Finding,
  type ToolApproval,
} from '@behalf/contracts';
import type { EnvRecord } from '../template/resolveEnv.ts';
import type { Template } from '../template/template.ts';
import { checkToolApproval } from './checkToolApproval.ts';
import { createTexts } from './texts.ts';

export type EndpointSettings = Readonly<Omit<CustomEndpoint, 'headers'>> & {
  readonly headers: Readonly<Record<string, Template>>;
  /** Where it stands in the file: entries before it may be left out. */
  readonly position: number;
};

export interface CompiledEndpoints {
  custom: EndpointSettings[];
  toolApproval: ToolApproval | undefined;
  errors: Finding[];
  warnings: Finding[];
  variables: ReadonlySet<string>;
}

/** LibreChat's word for a value that each user enters; it stands where a URL or a key would. */
const USER_PROVIDED = 'user_provided';

/**
 * The models. An entry whose variable is not set is left out with a warning, as LibreChat does: a file lists many
 * providers and a deployment has keys for some of them. So is one that leaves its address or key to users: where a
 * request goes, and with whose key, is never said by who sends it. Anything else that is wrong stays an error.
 */
export function compileEndpoints(endpoints: Endpoints | undefined, env: EnvRecord): CompiledEndpoints {
  const result: CompiledEndpoints = {
    custom: [],
    toolApproval: endpoints?.agents?.toolApproval,
    ...checkToolApproval(endpoints?.agents?.toolApproval, ['endpoints', 'agents', 'toolApproval']),
    variables: new Set(),
  };
  const variables = new Set<string>();
  for (const [index, endpoint] of (endpoints?.custom ?? []).entries()) {
    const path = ['endpoints', 'custom', index];
    const texts = createTexts(env);
    const { headers, apiKey, ...rest } = endpoint;
    const compiled: EndpointSettings = {
      ...rest,
      position: index,
      ...(apiKey === undefined ? {} : { apiKey: texts.plain(apiKey, [...path, 'apiKey']) }),
      baseURL: texts.plain(endpoint.baseURL, [...path, 'baseURL']),
      headers: Object.fromEntries(
        Object.entries(headers ?? {}).map(([name, text]) => [
          name,
          texts.template(text, [...path, 'headers', name], []),
        ]),
      ),
    };
    const unset = texts.findings.filter((item) => item.code === 'variable_unset');
    const wrong = texts.findings.filter((item) => item.code !== 'variable_unset');
    const left = (['baseURL', 'apiKey'] as const).filter((key) => compiled[key] === USER_PROVIDED);
    if (texts.findings.length === 0 && compiled.baseURL !== USER_PROVIDED) {
      const problem = urlProblem(compiled.baseURL, ['http:', 'https:']);
      if (problem) wrong.push(finding([...path, 'baseURL'], 'url', problem));
    }
    for (const name of Object.keys(headers ?? {})) {
      const problem = headerNameProblem(name);
      if (problem) wrong.push(finding([...path, 'headers', name], 'header_name', problem, 'remove it'));
    }
    result.errors.push(...wrong);
    result.warnings.push(
      ...unset.map((item) => ({ ...item, message: `${item.message}; "${endpoint.name}" is left out` })),
      ...left.map((key) =>
        finding(
          [...path, key],
          'user_provided',
          `cannot be left to users here; "${endpoint.name}" is left out`,
          'write the value, or ${NAME}',
        ),
      ),
    );
    if (wrong.length + unset.length + left.length === 0) result.custom.push(compiled);
    for (const name of texts.variables) variables.add(name);
  }
  return { ...result, variables };
}
