import type { MissingParts } from '@behalf/contracts';
import { CliError } from '../cliError.ts';
import { GatewayProblem } from '../gateway/explainProblem.ts';

/** All that is missing, one by one: what to bring, and where to do what. */
export function formatMissingParts({ inputs, credentials }: MissingParts): string[] {
  const needs = credentials.flatMap((group) => group.needs);
  return [
    ...inputs.map(({ step, name, description }) => {
      const inputName = step === undefined ? name : `${step}.${name}`;
      return `${inputName} is missing${description === undefined ? '' : `: ${description.split('\n')[0] ?? ''}`}`;
    }),
    ...needs.map((need) => {
      switch (need.kind) {
        case 'sign_in':
          return `a sign-in at ${need.server} is missing (${need.reason}): behalf mcp login ${need.server}, or ${need.connectUrl}`;
        case 'values':
          return `values at ${need.server} are missing: ${need.values.map(({ name }) => name).join(', ')}; enter them at ${need.connectUrl}`;
        case 'choose':
          return `there are several credentials at ${need.server}: select one of ${need.choices.map(({ label }) => label).join(', ')}`;
      }
    }),
  ];
}

/** What is missing ends a command as an input does; where it is a sign-in alone, as that does. */
export function toMissingError(error: unknown): unknown {
  if (!(error instanceof GatewayProblem)) return error;
  const { missing, code, detail } = error.problem;
  if (!missing) return error;
  const isOnlySignIn = missing.inputs.length === 0 && missing.credentials.length > 0;
  const problems = [...formatMissingParts(missing), ...(error.detail.problems ?? [])];
  return new CliError(isOnlySignIn ? 'signIn' : 'usage', detail, { code, problems });
}
