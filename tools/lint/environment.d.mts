interface RestrictedProperty {
  readonly object: string;
  readonly property: string;
  readonly message: string;
}

export const environmentReaders: readonly string[];
export const restrictedEnvironment: readonly RestrictedProperty[];
