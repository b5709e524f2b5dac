import type { ModelsView } from '@behalf/contracts';

export interface ModelChoice {
  readonly endpoint: string;
  readonly model: string;
}

/** The model that was chosen before, as long as it is offered; else the first. */
export function chooseModel(available: ModelsView, remembered: ModelChoice | null): ModelChoice | undefined {
  const choices = listModels(available);
  return choices.find((choice) => isSameModel(remembered, choice)) ?? choices[0];
}

export function listModels({ endpoints }: ModelsView): readonly ModelChoice[] {
  return endpoints.flatMap(({ name, models }) => models.map((model) => ({ endpoint: name, model })));
}

export function isSameModel(one: ModelChoice | null | undefined, other: ModelChoice): boolean {
  return one?.endpoint === other.endpoint && one.model === other.model;
}

/** What stands in the browser's storage is anybody's: it is a choice only when it looks like one. */
export function parseModelChoice(stored: unknown): ModelChoice | null {
  if (typeof stored !== 'object' || stored === null) return null;
  const { endpoint, model } = stored as Partial<Record<string, unknown>>;
  return typeof endpoint === 'string' && typeof model === 'string' ? { endpoint, model } : null;
}
