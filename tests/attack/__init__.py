"""Every public function called with whatever there is: a result, or an error of the package that says what to do."""
