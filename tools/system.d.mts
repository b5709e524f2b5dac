export interface FoundTool {
  name: string;
  variable: string;
  program: string;
  path: string;
}

export function findTools(env?: NodeJS.ProcessEnv): FoundTool[];
export function toolVariables(found: readonly FoundTool[]): Record<string, string>;
