import type { CreatedServerView, ServerView } from '@behalf/contracts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError } from '../../api/apiError.ts';
import { changeServer, checkServer, createServer, serverQuery, serversChanged } from '../../api/servers.ts';
import type { Begun } from '../add/foundForm.ts';
import { missingIn, problemsIn, type FieldProblems } from './formProblems.ts';
import { configOf, emptyForm, formOf, isChanged, type ServerForm } from './serverForm.ts';

/** The server that is being edited, as it was when the dialog opened. */
export interface EditedServer {
  readonly name: string;
  readonly view: ServerView;
}

/** Changes some of the form; what was wrong with the fields named is forgotten. */
export type Change = (patch: Partial<ServerForm>, ...fields: readonly string[]) => void;

export function useServerDialog(
  edited: EditedServer | undefined,
  begun: Begun | undefined,
  onSaved: (view: CreatedServerView) => void,
) {
  const client = useQueryClient();
  const [before, setBefore] = useState(edited?.view);
  const initial = before ? formOf(before) : (begun?.form ?? emptyForm);
  const [form, setForm] = useState(initial);
  const [problems, setProblems] = useState<FieldProblems>({});
  // Counts what was refused, so that the focus goes to the first wrong field each time.
  const [refusals, setRefusals] = useState(0);

  function refuse(fields: FieldProblems): void {
    setProblems(fields);
    setRefusals((count) => count + 1);
  }

  const onError = (error: unknown) => refuse(problemsIn(error, form, before).fields);
  const saving = useMutation({
    mutationFn: (): Promise<CreatedServerView> => {
      const config = configOf(form, before);
      return edited ? changeServer(edited.name, config, before?.version) : createServer(config, begun?.draft);
    },
    onSuccess: (view) => {
      onSaved(view);
      return serversChanged(client);
    },
    onError,
  });
  const checking = useMutation({
    mutationFn: () => checkServer(configOf(form, before), edited?.name),
    onError,
  });

  /** Drops what was typed for what is stored now. */
  const reloading = useMutation({
    mutationFn: (name: string) => client.query({ ...serverQuery(name), staleTime: 0 }),
    onSuccess: (view) => {
      setBefore(view);
      setForm(formOf(view));
      setProblems({});
      saving.reset();
    },
  });

  function attempt(run: () => void): void {
    saving.reset();
    checking.reset();
    const missing = missingIn(form, before);
    if (Object.keys(missing).length > 0) refuse(missing);
    else {
      setProblems({});
      run();
    }
  }

  const change: Change = (patch, ...fields) => {
    setForm({ ...form, ...patch });
    setProblems(Object.fromEntries(Object.entries(problems).filter(([field]) => !fields.includes(field))));
    // What was tested is not what stands there now.
    if (checking.data) checking.reset();
  };

  const error = saving.error ?? checking.error;
  return {
    form,
    before,
    problems,
    refusals,
    change,
    isChanged: isChanged(form, initial),
    error,
    others: problemsIn(error, form, before).others,
    hasConflict: error instanceof ApiError && error.code === 'MCP_VERSION_CONFLICT',
    checked: checking.data,
    isSaving: saving.isPending,
    isChecking: checking.isPending,
    isReloading: reloading.isPending,
    reloadError: reloading.error,
    save: () => attempt(() => saving.mutate()),
    check: () => attempt(() => checking.mutate()),
    reload: () => edited && reloading.mutate(edited.name),
  };
}

export type ServerDialogState = ReturnType<typeof useServerDialog>;
