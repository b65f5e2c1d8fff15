"""What a plugin can be: the roles' abstract classes, their abilities and what they are built with."""
