import { ApiError } from '../../api/apiError.ts';
import { strings } from '../../strings/strings.ts';
import { runs } from '../../tools/pageRuns.ts';
import type { ToolForm } from '../../tools/useToolForm.ts';
import { savedValues } from './askedInputs.ts';
import type { RunnerProps } from './BlockRunner.tsx';

type RunParts = Pick<
  RunnerProps,
  'block' | 'tool' | 'view' | 'checked' | 'picked' | 'onRecheck' | 'onReload'
> & {
  readonly form: ToolForm;
};

/** What its user has to do before it can be started at all, or after it was refused for its inputs. */
type Started = 'corrected' | 'choose' | 'started';

/** Starts the run of a block with the credential that is shown, and with no other. */
export function useBlockRun({
  block,
  tool: detail,
  view,
  checked,
  picked,
  form,
  onRecheck,
  onReload,
}: RunParts) {
  const credentials = checked?.credentials;
  const selected = picked ?? credentials?.selected ?? undefined;
  const choices = credentials?.choices ?? [];
  const isThere = choices.some(({ label }) => label === selected);
  const hasToChoose = choices.length > 0 && !isThere;

  async function start(): Promise<Started> {
    const inputs = form.submit();
    if (!inputs) return 'corrected';
    if (hasToChoose) return 'choose';
    const { id, version, server, tool } = block;
    const ended = await runs.start({
      ...{ server: server.name, serverTitle: view?.title ?? server.name, tool, toolTitle: detail?.title },
      // Exactly what is sent: who approves a call sees also what the block brings.
      args: { ...savedValues(block.inputs, ['fixed', 'default']), ...inputs },
      authority: view?.authority,
      block: { id, version, inputs, credential: selected },
    });
    return afterwards(ended.error);
  }

  function afterwards(error: unknown): Started {
    if (!(error instanceof ApiError)) return 'started';
    if (error.code === 'VERSION_CONFLICT') onReload();
    if (error.code === 'MCP_ARGUMENTS_INVALID') {
      form.refuse(error.errors);
      return 'corrected';
    }
    if (error.code !== 'BLOCK_INCOMPLETE') return 'started';
    // The tool asks for more than when the form was made.
    onRecheck();
    const message = strings.tools.form.errors.required;
    const named = error.problem?.missing?.inputs ?? [];
    form.refuse(
      named.map(({ name }) => ({ path: `arguments[${JSON.stringify(name)}]`, code: 'required', message })),
    );
    return 'corrected';
  }

  return { selected, hasToChoose, start };
}
